import { expect, test } from 'vitest'
import { findWaitingSince } from './upstream-pool.ts'

const never = -Infinity
const quiet = { clientSentAt: 100, serverSentAt: 150 }
const waits = { clientSentAt: 200, serverSentAt: 150 }

test.each([
  ['no client waits without connections', [], never, never, undefined],
  ['a client does not wait if the server sent last', [quiet], never, never, undefined],
  ['a client waits from the time it sent last', [quiet, waits], never, never, 200],
  ['the earliest waiting client counts', [{ ...waits, clientSentAt: 220 }, waits], never, never, 200],
  [
    'a client waits if the server never responded',
    [{ clientSentAt: 50, serverSentAt: never }],
    never,
    never,
    50,
  ],
  [
    'data to another client moves the start of a wait',
    [waits, { clientSentAt: 1, serverSentAt: 300 }],
    never,
    never,
    300,
  ],
  ['a wait ends with a later ready probe', [waits], never, 201, undefined],
  ['a wait does not end with a probe from before the wait', [waits], never, 199, 200],
  ['a slow dial counts as a wait', [quiet], 400, never, 400],
  ['the wait of a slow dial ends with a later ready probe', [quiet], 400, 401, undefined],
])('%s', (_, talks, lastSlowDialAt, lastReadyProbeAt, since) => {
  expect(findWaitingSince(talks, lastSlowDialAt, lastReadyProbeAt)).toBe(since)
})
