import { expect, test } from 'vitest'
import { findWaitingSince } from './upstream-pool.ts'

const never = -Infinity
const quiet = { clientSentAt: 100, serverSentAt: 150 }
const waits = { clientSentAt: 200, serverSentAt: 150 }

test.each([
  ['none', [], never, never, undefined],
  ['none, when the server sent last', [quiet], never, never, undefined],
  ['one that has spoken last', [quiet, waits], never, never, 200],
  ['the first of them', [{ ...waits, clientSentAt: 220 }, waits], never, never, 200],
  ['one that was never answered', [{ clientSentAt: 50, serverSentAt: never }], never, never, 50],
  [
    'one, though the server has spoken to another since',
    [waits, { clientSentAt: 1, serverSentAt: 300 }],
    never,
    never,
    300,
  ],
  ['none, when a later probe was answered', [waits], never, 201, undefined],
  ['one, when that look began before', [waits], never, 199, 200],
  ['us, when it did not accept', [quiet], 400, never, 400],
  ['none, when it was found ready since', [quiet], 400, 401, undefined],
])('%s waits', (_, talks, lastSlowDialAt, lastReadyProbeAt, since) => {
  expect(findWaitingSince(talks, lastSlowDialAt, lastReadyProbeAt)).toBe(since)
})
