#include "base/scope.h"

#include "base/context.h"

static scope *scope_of_thread(const motet_context *c)
{
    for (scope *s = c->scopes; s; s = s->next)
        if (pthread_equal(s->thread, pthread_self())) return s;
    return NULL;
}

void scope_enter(motet_context *c, scope *one)
{
    pthread_mutex_lock(&c->lock);
    one->thread = pthread_self();
    one->error = (motet_error){.device = -1, .chunk = -1};
    one->next = c->scopes;
    c->scopes = one;
    atomic_fetch_add(&c->scoped, 1);
    pthread_mutex_unlock(&c->lock);
}

void scope_leave(motet_context *c, scope *one)
{
    pthread_mutex_lock(&c->lock);
    scope **at = &c->scopes;
    while (*at != one) at = &(*at)->next;
    *at = one->next;
    atomic_fetch_sub(&c->scoped, 1);
    pthread_mutex_unlock(&c->lock);
}

scope *context_scope(motet_context *c)
{
    if (!atomic_load(&c->scoped)) return NULL;
    pthread_mutex_lock(&c->lock);
    scope *s = scope_of_thread(c); /* stays: only this thread leaves it */
    pthread_mutex_unlock(&c->lock);
    return s;
}

motet_error *scope_record(motet_context *c, int make)
{
    scope *s = scope_of_thread(c);
    if (s) return &s->error;
    context_record *oldest = &c->record[0];
    for (int i = 0; i < CONTEXT_RECORDS; i++) {
        context_record *r = &c->record[i];
        if (r->age && pthread_equal(r->thread, pthread_self())) {
            if (make) r->age = ++c->failures;
            return &r->error;
        }
        if (r->age < oldest->age) oldest = r;
    }
    if (!make) return NULL;
    *oldest = (context_record){pthread_self(), ++c->failures, {.device = -1, .chunk = -1}};
    return &oldest->error;
}
