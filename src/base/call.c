#include "base/call.h"

#include "base/context.h"

static call *call_of_thread(const motet_context *c)
{
    for (call *one = c->calls; one; one = one->next)
        if (pthread_equal(one->thread, pthread_self())) return one;
    return NULL;
}

void call_begin(motet_context *c, call *one)
{
    *one = (call){.context = c, .former = thread_float_enter(), .thread = pthread_self()};
    pthread_mutex_lock(&c->lock);
    one->within = call_of_thread(c) != NULL;
    if (!one->within) {
        one->cancelled = atomic_load(&c->cancelled);
        one->next = c->calls;
        c->calls = one;
    }
    pthread_mutex_unlock(&c->lock);
}

motet_status call_end(call *one, motet_status status)
{
    motet_context *c = one->context;
    pthread_mutex_lock(&c->lock);
    if (!one->within) {
        call **at = &c->calls;
        while (*at != one) at = &(*at)->next;
        *at = one->next;
    }
    pthread_mutex_unlock(&c->lock);
    thread_float_leave(one->former);
    return status;
}

call *call_under_way(motet_context *c)
{
    pthread_mutex_lock(&c->lock);
    call *one = call_of_thread(c); /* stays: only this thread ends it */
    pthread_mutex_unlock(&c->lock);
    return one;
}
