import { expect, test } from 'vitest'
import { waitingSince } from './waiting.ts'

const never = -Infinity
const quiet = { spokenAt: 100, heardAt: 150 }
const waits = { spokenAt: 200, heardAt: 150 }

test.each([
  ['nobody', [], never, never, undefined],
  ['nobody, when the server had the last word', [quiet], never, never, undefined],
  ['one that has spoken last', [quiet, waits], never, never, 200],
  ['the first of them', [{ ...waits, spokenAt: 220 }, waits], never, never, 200],
  ['one that was never answered', [{ spokenAt: 50, heardAt: never }], never, never, 50],
  [
    'one, though the server has spoken to another since',
    [waits, { spokenAt: 1, heardAt: 300 }],
    never,
    never,
    300,
  ],
  ['nobody, when a look that began later was answered', [waits], never, 201, undefined],
  ['one, when that look began before', [waits], never, 199, 200],
  ['us, when it did not accept', [quiet], 400, never, 400],
  ['nobody, when it was found ready since', [quiet], 400, 401, undefined],
])('%s waits', (_, talks, doubtedAt, answeredAt, since) => {
  expect(waitingSince(talks, doubtedAt, answeredAt)).toBe(since)
})
