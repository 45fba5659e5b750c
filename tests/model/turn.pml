/* Turns (src/rt/turn.c) and the runs that take them: three requests on the devices of a context. Two
 * of them may be cancelled, any device lost, at any moment. Shown for every order of events: nobody
 * waits for ever, tickets are served in their order, a run that holds the turn has the devices to
 * itself, it dispatches no more than TURN chunks on a device while somebody waits, and every request
 * ends with the status it deserves. What the queue's lock guards is one atomic step here.
 *
 * Searched with: -DDEVICES=1 -DTURN=2 -DWORK=3
 * Searched with: -DDEVICES=2 -DTURN=1 -DWORK=2 */

#define REQUESTS 3

byte queue[REQUESTS]; /* requests in the order of their tickets; the first one holds the turn */
byte waiting;         /* length of the queue, the holder included */
byte members;         /* a bit for each request that is in it */
byte ahead[REQUESTS]; /* a bit for each request that drew an earlier ticket and has not left */

bool cancel[REQUESTS], over[REQUESTS];
byte ended;

bool lost[DEVICES];
byte flying[DEVICES]; /* chunks dispatched and not collected */
byte owner[DEVICES];  /* whose they are */

#define holds(me) (waiting > 0 && queue[0] == me)
#if DEVICES == 2
#define all_lost (lost[0] && lost[1])
#define none_flies (flying[0] + flying[1] == 0)
#define none_usable ((lost[0] || spent[0]) && (lost[1] || spent[1]))
#else
#define all_lost (lost[0])
#define none_flies (flying[0] == 0)
#define none_usable (lost[0] || spent[0])
#endif

inline join(me)
{
    d_step {
        ahead[me] = members;
        members = members | (1 << me);
        queue[waiting] = me;
#ifdef BROKEN_REJOINS_IN_FRONT
        i = waiting;
        do
        :: rejoins && i > 0 -> queue[i] = queue[i - 1]; queue[i - 1] = me; i--
        :: else -> break
        od;
        i = 0;
#endif
        waiting++
    }
}

inline leave(me)
{
    d_step {
        i = 0;
        do
        :: queue[i] != me -> i++
        :: else -> break
        od;
        do
        :: i + 1 < waiting -> queue[i] = queue[i + 1]; i++
        :: else -> break
        od;
        i = 0;
        waiting--;
        queue[waiting] = 0;
        members = members & ~(1 << me);
        ahead[0] = ahead[0] & members;
        ahead[1] = ahead[1] & members;
        ahead[2] = ahead[2] & members
    }
}

/* rt_turn_over, and the promise that it makes to whoever waits. */
inline dispatch(me, d)
{
    d_step {
        assert(holds(me));
        assert(flying[d] == 0 || owner[d] == me);
        owner[d] = me;
        flying[d]++;
        left--;
        count[d]++;
        if
        :: waiting > 1 -> seen[d]++
        :: else -> seen[d] = 0
        fi;
        assert(seen[d] <= TURN);
        if
#ifndef BROKEN_NEVER_OVER
        :: count[d] >= TURN && waiting > 1 -> spent[d] = true
#endif
        :: count[d] >= TURN && waiting <= 1 -> count[d] = 0
        :: else
        fi
    }
}

/* One chunk came back; or the device is lost, and what it had is to be dispatched again. */
inline collect(d)
{
    d_step {
        if
        :: lost[d] -> left = left + flying[d]; flying[d] = 0
        :: else -> done++; flying[d]--
        fi;
        if
        :: flying[d] == 0 -> owner[d] = 0
        :: else
        fi
    }
}

#define may_collect(d) (!cancel[me] && flying[d] > 0)
#define may_dispatch(d) (!cancel[me] && left > 0 && !lost[d] && !spent[d] && flying[d] < 2)

proctype request(byte me)
{
    byte left = WORK, done, i;
    byte count[DEVICES], seen[DEVICES];
    bool spent[DEVICES], rejoins;

take:
    join(me);
    do
    :: atomic { holds(me) -> assert(ahead[me] == 0); break }
    :: atomic {
            !holds(me) && cancel[me] ->
#ifndef BROKEN_CANCELLED_STAYS
            leave(me);
#endif
            goto out
        }
    od;

    do
    :: atomic { cancel[me] -> break }
    :: atomic { may_collect(0) -> collect(0) }
    :: atomic { may_dispatch(0) -> dispatch(me, 0) }
#if DEVICES == 2
    :: atomic { may_collect(1) -> collect(1) }
    :: atomic { may_dispatch(1) -> dispatch(me, 1) }
#endif
    :: atomic { done == WORK -> break }
    :: atomic { none_flies && all_lost -> break }
    :: atomic { left > 0 && !all_lost && none_usable -> break }
    od;
#ifndef BROKEN_GIVES_UNDRAINED
    do
    :: atomic { flying[0] > 0 -> collect(0) }
#if DEVICES == 2
    :: atomic { flying[1] > 0 -> collect(1) }
#endif
    :: atomic { none_flies -> break }
    od;
#endif
    atomic { /* every way out gives */
        i = 0;
        do
        :: i < DEVICES -> count[i] = 0; seen[i] = 0; spent[i] = false; i++
        :: else -> break
        od;
        i = 0;
#ifdef BROKEN_KEPT_AFTER_LOSS
        if
        :: all_lost && done < WORK -> goto out
        :: else
        fi;
#endif
        leave(me);
        if
        :: done == WORK || cancel[me] || all_lost
        :: else -> rejoins = true; goto take
        fi
    }
out:
    atomic { /* done, cancelled, or no device is left */
        assert(done == WORK || cancel[me] || all_lost);
        assert(left + done == WORK);
        left = 0;
        done = 0;
        rejoins = false;
        cancel[me] = false;
        over[me] = true;
        ended++
    }
}

/* Cancels none, some or all but the last (to search less), and loses devices, whenever it comes to it. */
proctype cancels()
{
    byte i;
    do
    :: i < REQUESTS - 1 && !over[i] -> cancel[i] = true; i++
    :: i < REQUESTS - 1 -> i++
    :: i == REQUESTS - 1 -> break
    od
}

proctype loses()
{
    byte i;
    do
    :: i < DEVICES -> lost[i] = true; i++
    :: i < DEVICES -> i++
    :: i == DEVICES -> break
    od
}

init
{
    atomic {
        run request(0);
        run request(1);
        run request(2);
        run cancels();
        run loses()
    }
}

ltl every_request_ends { <> (ended == REQUESTS) }
