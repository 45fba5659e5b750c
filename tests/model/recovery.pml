/* Losing a device and bringing it back (src/rt/devices.c, src/rt/recover.c, src/base/recovery.c):
 * several requests use one device, any of them may lose it, and each tries to bring it back when it
 * begins. Steps that the context's lock covers are atomic here; the flag is read without the lock.
 *
 * Shown: who sees the flag finds reason and cool-down; one thread tries at a time, never before the
 * cool-down is over, never more often than allowed; the device is never closed under a user, and
 * never used when it is closed or computes wrongly; every request ends.
 *
 * BROKEN=1: the flag is set first. 2: looking at the flag and counting the user are two steps.
 * 3: asking and beginning an attempt are two steps. 4: users are not asked for. 5: no health check. */

#ifndef BROKEN
#define BROKEN 0
#endif

#define REQUESTS 3
#define RUNS     2 /* of each request */
#define ATTEMPTS 2 /* allowed in the time that is looked at */

bool lost, reason, cooling; /* cooling: the cool-down has not passed */
bool trying, open = true, healthy = true;
byte users, attempts, recoverers, ended;

inline lose()
{
#if BROKEN == 1
    lost = true;
    reason = true;
    cooling = true;
#else
    atomic { /* the lock; readers of the flag see each step all the same */
        if
        :: !lost -> reason = true; cooling = true
        :: else -> goto lost_already
        fi
    }
    lost = true;
lost_already:
    skip;
#endif
}

/* mine: this request tries now. */
inline claim()
{
#if BROKEN == 3
    if
    :: lost && !trying && !cooling && users == 0 && attempts < ATTEMPTS -> mine = true
    :: else -> mine = false
    fi;
    if
    :: mine -> trying = true; attempts++; cooling = true
    :: else
    fi
#else
    atomic {
        if
#if BROKEN == 4
        :: lost && !trying && !cooling && attempts < ATTEMPTS ->
#else
        :: lost && !trying && !cooling && users == 0 && attempts < ATTEMPTS ->
#endif
            trying = true; attempts++; cooling = true; mine = true
        :: else -> mine = false
        fi
    }
#endif
}

inline recover()
{
    claim();
    if
    :: mine ->
        recoverers++;
        assert(recoverers == 1);
        assert(attempts <= ATTEMPTS);
        assert(users == 0);
        open = false;
        fresh = false;
        if /* the device comes back, or not, or wrong */
        :: fresh = true; healthy = true
        :: fresh = true; healthy = false
        :: skip
        fi;
#if BROKEN != 5
        if
        :: fresh && !healthy -> fresh = false
        :: else
        fi;
#endif
        assert(recoverers == 1);
        recoverers--;
        atomic {
            trying = false;
            if
            :: fresh -> open = true
            :: else
            fi
        }
        if
        :: fresh -> lost = false
        :: else
        fi
    :: else
    fi
}

proctype Request()
{
    bool mine, fresh, use;
    byte runs;
    do
    :: runs == RUNS -> break
    :: else ->
        runs++;
        if
        :: lost ->
            assert(reason);
            recover()
        :: else
        fi;
#if BROKEN == 2
        use = !lost;
        if
        :: use -> users++
        :: else
        fi;
#else
        atomic {
            use = !lost && open && !trying;
            if
            :: use -> users++
            :: else
            fi
        }
#endif
        if
        :: use ->
            assert(open && healthy);
            if
            :: skip /* the run succeeds */
            :: lose()
            fi;
            assert(open); /* until it has left */
            users--
        :: else /* the run goes on without the device */
        fi
    od;
    ended++
}

/* The cool-down passes at any time after it began; its flag cannot be seen unset before. */
active proctype Clock()
{
end:
    do
    :: lost && cooling && !trying -> cooling = false
    od
}

init
{
    byte i;
    atomic {
        do
        :: i < REQUESTS -> run Request(); i++
        :: else -> break
        od
    }
}

ltl every_request_ends { <> (ended == REQUESTS) }
ltl the_flag_comes_last { [] (lost -> reason) }
