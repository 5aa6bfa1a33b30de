import * as fc from 'fast-check'
import type { Event } from '../../../contract/event.ts'
import type { RecordedEvent } from './fixtures.ts'
import { createOpFixture } from './fixtures.ts'

/** Text that a host may send: words, other scripts, control characters, long lines. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.constantFrom('\u001B[2J\u001B[H', 'a\r\nb\tc', '漢字'.repeat(40), '👩‍👩‍👧'.repeat(20), '\u202Eabc', ''),
)
const name = fc.oneof(fc.constantFrom('cp1', 'w1', 'w2', 'step'), text)
const names = fc.array(name, { maxLength: 40 })
const op = fc
  .tuple(
    name,
    fc.constantFrom('create', 'start', 'stop'),
    fc.constantFrom('file', 'service', 'artifact'),
    text,
  )
  .map(([component, action, target, of]) => createOpFixture(component, action, target, of))
const result: fc.Arbitrary<Extract<Event['body'], { type: 'run-ended' }>['result']> = fc.oneof(
  fc.constantFrom({ outcome: 'done' }, { outcome: 'unchanged' }, { outcome: 'interrupted' }),
  fc
    .record({ code: name, message: text, hint: text })
    .map((failure) => ({ outcome: 'failed', failure }) as const),
)
const seconds = fc.double({ min: 0, max: 100_000, noNaN: true })
const since = seconds.map((after) => new Date(after * 1000).toISOString())
const step = fc.record(
  { step: name, title: text, hosts: names },
  { requiredKeys: ['step', 'title', 'hosts'] },
)
const finding = fc.record({
  code: fc.constantFrom('HOST_SWAP'),
  severity: fc.constantFrom('error', 'warning'),
  message: text,
  host: name,
})

const eventBody: fc.Arbitrary<Event['body']> = fc.oneof(
  fc.record({ type: fc.constant('run-started'), command: name }),
  fc.record({ type: fc.constant('run-ended'), result }),
  fc.record({
    type: fc.constant('steps-planned'),
    steps: fc.array(
      fc.oneof(
        step,
        step.map((one) => ({ ...one, stage: 'node' as const })),
      ),
      { maxLength: 60 },
    ),
  }),
  fc.record({ type: fc.constant('step-started'), step: name }),
  fc.record({ type: fc.constant('step-ended'), step: name, result }),
  fc.record({ type: fc.constant('op-started'), op }),
  fc.record({ type: fc.constant('op-ended'), op, result }),
  fc.record({ type: fc.constant('waiting'), for: text, since }),
  fc.record({
    type: fc.constant('stopping'),
    because: fc.constantFrom('interrupted', 'timeout', 'claim-lost'),
  }),
  fc.record({ type: fc.constant('progress'), done: fc.double(), total: fc.double(), unit: text }),
  fc.record({ type: fc.constant('finding'), finding }),
  fc.record({ type: fc.constant('log'), lines: fc.array(text, { maxLength: 30 }) }),
)

/** Events in any order, including sequences that cannot occur. */
export const anyEvents: fc.Arbitrary<readonly RecordedEvent[]> = fc.array(
  fc.tuple(seconds, eventBody, fc.option(name, { nil: undefined }), fc.option(name, { nil: undefined })),
  { maxLength: 80 },
)
