/* Two ranks share out chunks, lose devices and plan anew: both follow the same plan in every round,
 * each chunk is delivered exactly once, and both end with the same answer.
 *
 * A plan is a pure function of what both know: which devices are left and which chunks are done.
 * So agreeing takes one message each way: a rank tells what it knows, takes what the other knows,
 * and plans from the two messages alone. A device may be lost between the telling and the planning;
 * the other rank cannot know that, so this one must not either: it follows the plan, delivers
 * nothing, and tells of the loss in the next round. A rank without devices stays to the end, for
 * the other waits for its word.
 *
 * -DBROKEN: a rank plans from what it knows now. -DBROKEN_LEAVES: a rank leaves when its device is
 * lost. -DBROKEN_ORDER: both tell before they listen, and telling waits for the listener. Each must
 * be found. */
#define CHUNKS 4
#define ALL    15 /* a bit for each chunk */

#ifdef BROKEN_ORDER
#define ROOM 0
#else
#define ROOM 1
#endif

chan to[2] = [ROOM] of { bit, byte }; /* device left, chunks done by the sender */

byte delivered[CHUNKS]; /* how often */
byte share_of[2];       /* the plan: chunks of each rank's device, as each rank last made it */
byte round[2];
byte answer[2];         /* 0: none yet, 1: ok, 2: no device is left */
byte shares[4];         /* ghost: [2 * (round & 1) + device], as the first of the two planned it */
byte planned[2];        /* ghost: ranks that have planned a round of this parity */
bit left_at_end;

proctype rank(byte self)
{
    bit left = 1, told, other_left;
    byte done, other_done, missing, mine, i, given;
    byte parity;

#define MAY_LOSE if :: left -> if :: left = 0 :: skip fi :: else fi

    do
    ::
        MAY_LOSE;
#ifdef BROKEN_LEAVES
        if :: !left -> answer[self] = 2; break :: else fi;
#endif
        told = left;
        to[1 - self]!left, done;
        MAY_LOSE;
        to[self]?other_left, other_done;
#ifdef BROKEN
        told = left;
#endif
        atomic {
            missing = ALL & ~(done | other_done);
            if
            :: missing == 0 -> answer[self] = 1; break
            :: missing != 0 && !told && !other_left -> answer[self] = 2; break
            :: else
            fi;
            /* Missing chunks go round robin to the devices that are left, lower ranks first. */
            share_of[0] = 0; share_of[1] = 0; i = 0; given = 0;
            do
            :: i == CHUNKS -> break
            :: i < CHUNKS && (missing & (1 << i)) ->
                if
                :: told && other_left -> mine = given % 2
                :: told && !other_left -> mine = self
                :: !told -> mine = 1 - self
                fi;
                share_of[mine] = share_of[mine] | (1 << i);
                given++; i++
            :: else -> i++
            od;
            mine = share_of[self];
            parity = round[self] & 1;
            if
            :: planned[parity] == 0 ->
                shares[2 * parity] = share_of[0]; shares[2 * parity + 1] = share_of[1];
                planned[parity] = 1;
                planned[1 - parity] = 0
            :: else ->
                assert(shares[2 * parity] == share_of[0] && shares[2 * parity + 1] == share_of[1])
            fi;
            round[self]++;
            assert(round[0] - round[1] <= 1 || round[1] - round[0] <= 1);
            share_of[0] = 0; share_of[1] = 0
        }
        i = 0;
        do
        :: i == CHUNKS -> break
        :: i < CHUNKS && (mine & (1 << i)) ->
            MAY_LOSE;
            if
            :: left -> atomic { done = done | (1 << i); delivered[i]++; assert(delivered[i] == 1) }
            :: else
            fi;
            i++
        :: else -> i++
        od
    od;
    if :: left -> left_at_end = 1 :: else fi
}

init {
    atomic { run rank(0); run rank(1) }
    (_nr_pr == 1);
    assert(answer[0] == answer[1] && answer[0] != 0);
    assert(answer[0] == 2 || (delivered[0] && delivered[1] && delivered[2] && delivered[3]));
    assert(answer[0] == 1 || !left_at_end)
}

ltl every_rank_ends { <> (answer[0] != 0 && answer[1] != 0) }
