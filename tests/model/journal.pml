/* Supervision (src/cli/supervise.c, src/cli/child.c) with a journal (src/rt/journal.c): a parent starts
 * a child, which computes chunks, keeps each in the journal and puts the output in place; child and
 * parent may be killed at any moment, and a child may hang. Each child writes to a journal of its own.
 *
 * Shown: what is put in place is whole, and only what was kept whole is taken from a journal; no chunk
 * that was kept is computed again; no two children write at a time; a fresh child is not refused for
 * what a dead one had put in place; a parent that gives up or succeeds leaves neither a child nor a
 * temporary file, and a child never outlives its parent. */

#define CHUNKS  2
#define RETURNS 2 /* fresh children, at most */
#define KILLS   2
#define CHILDREN 3 /* 1 + RETURNS */

#define NONE  0
#define TORN  1
#define WHOLE 2

byte record[CHUNKS]; /* the best of all journals */
byte computed[CHUNKS], kept_then[CHUNKS];
bool alive[CHILDREN], asked[CHILDREN]; /* asked: it ends when its parent does */
bool hung[CHILDREN];
bool parent = true, ended;
byte children;            /* started */
byte beside;              /* temporary files */
byte output, told;        /* 1 + the child that put it there; that it is about to */
bool said_over;           /* by the child that is attended */
byte kills;

#define writers (alive[0] + alive[1] + alive[2])
#define nobody  (writers == 0)

/* One step of a child, unless it is dead. */
#define STEP(action)                                                                               \
    if                                                                                             \
    :: atomic { alive[me] -> action }                                                              \
    :: atomic { !alive[me] -> goto dead }                                                          \
    fi

proctype Child(byte me)
{
    byte i;
    bool good;
    STEP(asked[me] = true);
#ifndef BROKEN_NO_SECOND_LOOK
    STEP(if :: !parent -> alive[me] = false :: else fi);
#endif
    STEP(assert(output == 0));
    STEP(beside++);
    do
    :: i == CHUNKS -> break
    :: else ->
        STEP(
#ifdef BROKEN_TAKES_TORN
            good = record[i] != NONE
#else
            good = record[i] == WHOLE
#endif
        );
        if
        :: good -> assert(record[i] == WHOLE)
        :: else ->
            STEP(computed[i]++; assert(kept_then[i] == 0));
            STEP(assert(writers == 1); if :: record[i] == NONE -> record[i] = TORN :: else fi);
            if
            :: STEP(hung[me] = true); (!alive[me]); goto dead
            :: STEP(assert(writers == 1); record[i] = WHOLE; kept_then[i] = 1)
            fi
        fi;
        i++
    od;
    STEP(told = me + 1);
    STEP(beside--; output = me + 1);
    STEP(said_over = true);
    STEP(alive[me] = false);
dead:
    skip
}

active proctype Parent()
{
    byte now;
    do
    :: atomic {
        parent ->
        now = children;
        children++;
        alive[now] = true;
        told = 0;
        run Child(now)
       };
       /* attend it: it ends by itself, or is silent, and killed */
       do
       :: atomic { parent && !alive[now] -> break }
#ifdef BROKEN_DOES_NOT_KILL
       :: atomic { parent && hung[now] -> break }
#else
       :: atomic { parent && hung[now] && alive[now] -> alive[now] = false }
#endif
       :: !parent -> goto gone
       od;
       if
       :: atomic { parent && said_over -> goto over }
       :: atomic { parent && !said_over ->
#ifndef BROKEN_DOES_NOT_SWEEP
            beside = 0;
            if
            :: output != 0 && output == told -> output = 0
            :: else
            fi
#endif
            skip
          }
       :: !parent -> goto gone
       fi;
       if
       :: children > RETURNS -> goto over /* it gives up */
       :: else
       fi
    :: !parent -> goto gone
    od;
over:
    if
    :: atomic { parent ->
        assert(said_over == (output != 0));
        assert(beside == 0);
        assert(nobody || said_over);
        ended = true
       }
    :: !parent
    fi;
gone:
    skip
}

/* kill -9 of either; the system tells a child that asked for it. */
active proctype Killer()
{
    byte i;
end:
    do
    :: kills < KILLS ->
        if
        :: atomic { alive[0] -> alive[0] = false; kills++ }
        :: atomic { alive[1] -> alive[1] = false; kills++ }
        :: atomic { alive[2] -> alive[2] = false; kills++ }
        :: atomic {
            parent && !ended ->
            parent = false;
            kills++;
            i = 0;
            do
            :: i == CHILDREN -> break
            :: else ->
                if
                :: asked[i] && alive[i] -> alive[i] = false; beside = 0 /* it cleans up */
                :: else
                fi;
                i++
            od
           }
        :: break
        fi
    :: else -> break
    od
}

ltl fair_nothing_is_left { <> [] ((ended || !parent) && nobody) }
