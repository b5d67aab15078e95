/** Worked examples: what each event prints, in any order. */
export const examples: readonly (readonly [name: string, trace: string])[] = [
  [
    '1 one offer, nobody armed',
    'end 10 → ask g1; ok g1 Run the unit tests → ready; suggest; start 11 host → superseded newer-turn',
  ],
  [
    '2 cap',
    'arm rounds=2; end 10 → ask g1; ok g1 Write the parser → ready, fire 1/2; starting g1 → admit; start 11 plugin; edit a.ts; end 11 → ask g2; ok g2 Test the parser → ready, fire 2/2; start 12 plugin; edit b.ts; end 12 → ask g3; ok g3 Document the parser → ready, disarm cap',
  ],
  [
    '3 re-arm after cap is a new grant',
    'arm rounds=1; end 10 → ask g1; ok g1 Write the parser → ready, fire 1/1; start 11 plugin; edit a.ts; end 11 → ask g2; ok g2 Test the parser → ready, disarm cap; arm rounds=1 → fire 1/1',
  ],
  [
    '4 typed first',
    'arm; end 10 → ask g1; say → disarm human, superseded human, cancel g1; start 11 person; ok g1 Run the tests; end 11 → ask g2; ok g2 Run the tests → ready',
  ],
  [
    '5 another turn first, not a person',
    'arm; end 10 → ask g1; start 11 host → superseded newer-turn, cancel g1; end 11 → ask g2; ok g2 Read the report → ready, fire 1/8',
  ],
  ['6 Stop', 'arm; end 10 aborted → disarm aborted; end 11 → ask g1; ok g1 Run the tests → ready'],
  ['7 output limit', 'arm; end 10 max-tokens → disarm max-tokens'],
  [
    '8 goal edit waits for Run',
    'arm; end 10 → ask g1; ok g1 **GOAL:** ship version two → ready!, hold goal-edit; run g1 → person; run g1 → no NEXT_ALREADY_RUN',
  ],
  ['9 bare prefix', 'end 10 → ask g1; ok g1 GOAL: → quiet empty-goal'],
  ['10 quiet, redelivered', 'end 10 → ask g1; ok g1 NONE → quiet nothing; end 10'],
  ['11 quiet ends the loop', 'arm; end 10 → ask g1; ok g1 NONE → quiet nothing, disarm nothing-to-do'],
  ['12 off while generating', 'end 10 → ask g1; off → cancel g1; ok g1 Run the tests; end 11; on → ask g2'],
  [
    '13 timeout, next turn free',
    '@1000 end 10 → ask g1; @21000 tick → cancel g1, failed timeout; end 11 → ask g2; ok g1 Late text here; ok g2 Run the tests → ready',
  ],
  [
    '14 crash while generating',
    'arm; end 10 → ask g1; restart → failed interrupted, disarm restart; end 10 → ask g2; ok g2 Run the tests → ready; end 10',
  ],
  [
    '15 submit fails',
    'arm; end 10 → ask g1; ok g1 Run the tests → ready, fire 1/8; nosend g1 → refund queue-failed, ready, disarm queue-failed; run → person',
  ],
  [
    '16 goal edited',
    'goal a 3 active disarmed; arm; work jobs=1; end 10 → ask g1; ok g1 Build the index → ready, hold background; goal a 4 active disarmed → superseded goal-changed, ask g2; run g1 → no NEXT_STALE; ok g2 Build the new index → ready, hold background; work jobs=0 → fire 1/8',
  ],
  [
    '17 goal paused',
    'goal a 1 active disarmed; arm; end 10 → ask g1; goal a 2 paused disarmed → disarm goal-paused, superseded goal-changed, cancel g1',
  ],
  [
    '18 displacement, then a human resume',
    'goal a 1 active armed; arm → displace; end 10 → ask g1; ok g1 Build the index → ready, fire 1/8; start 11 plugin; edit a.ts; end 11 → ask g2; goal a 1 active armed resume → disarm driver-rearmed; ok g2 Test the index → ready',
  ],
  [
    '19 stall by idling',
    'arm; end 10 → ask g1; ok g1 Check it again → ready, fire 1/8; start 11 plugin; end 11 → ask g2; ok g2 Check it again → ready, warn repeat, fire 2/8; start 12 plugin; end 12 → ask g3; ok g3 Check it again → ready, warn stall, disarm stalled',
  ],
  [
    '20 the agent asks',
    'arm; end 10 : Shall I delete the old table? → ask g1; ok g1 List what uses the old table → ready, hold question; say → disarm human, superseded human',
  ],
  [
    '21 background work',
    'arm; work children=1; end 10 → ask g1; ok g1 Merge the findings → ready, hold background; work children=0 → fire 1/8; work children=0',
  ],
  [
    '22 compaction',
    'end 10 → ask g1; ok g1 Run the tests → ready; compact → superseded compacted, ask g2; ok g2 Run the tests → ready; run g1 → no NEXT_STALE; run g2 → person',
  ],
  [
    '23 person speaks between submit and start',
    'arm; end 10 → ask g1; ok g1 Run the tests → ready, fire 1/8; say → refund human, disarm human, superseded human; starting g1 → veto human',
  ],
  ['24 command text refused', 'end 10 → ask g1; ok g1 \\u202e\\n/compact → failed refused:command'],
  [
    '25 until',
    'arm until=t; end 10 → check c1; check c1 1 → ask g1; ok g1 Fix the parser → ready, fire 1/8; start 11 plugin; edit a.ts; end 11 → check c2; check c2 0 → disarm until-met, ask g2; ok g2 Write the notes → ready',
  ],
  [
    '26 second process',
    'arm; p2>arm → no NEXT_HELD; p2>arm take=true → disarm lease-lost; end 10 → ask g1; ok g1 Run the tests → ready, fire 1/8',
  ],
  [
    '27 tokens',
    'arm tokens=10000; end 10 → ask g1; ok g1 Write the parser → ready, fire 1/8; start 11 plugin; edit a.ts; end 11 usage=9000+1500 → ask g2; ok g2 Test the parser → ready, disarm tokens',
  ],
  [
    '28 no model: todo list drives',
    '[model:"",local:true] todo pending:Write docs; arm; end 10 → ready, fire 1/8; start 11 plugin; edit d.md; todo completed:Write docs; sh ok npm test; end 11 → quiet nothing-local, disarm nothing-to-do',
  ],
  ['29 failing check', '[model:"",local:true] sh bad npm test : not ok 3 - parses dates; end 10 → ready'],
  [
    '30 risky needs Run',
    'arm; end 10 → ask g1; ok g1 Push the branch to origin → ready, hold risky; run → person; start 11 person; end 11 → ask g2; ok g2 Read the log → ready, fire 1/8',
  ],
  [
    '31 nobody but a person arms',
    'arm ~agent → no NEXT_NEEDS_PERSON; arm rounds=0 → no NEXT_BAD_GRANT; end 10 → ask g1; ok g1 Run the tests → ready',
  ],
]
