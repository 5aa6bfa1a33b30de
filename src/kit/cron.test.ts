import { assert, date, property } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { previousOccurrence, nextOccurrence, parseCron } from './cron.ts'

const now = new Date('2026-11-16T08:15:30Z')

test.each([
  ['0 * * * *', '2026-11-16T08:00:00.000Z', '2026-11-16T09:00:00.000Z'],
  ['15 8 * * *', '2026-11-16T08:15:00.000Z', '2026-11-17T08:15:00.000Z'],
  ['*/20 * * * *', '2026-11-16T08:00:00.000Z', '2026-11-16T08:20:00.000Z'],
  ['0 */6 * * *', '2026-11-16T06:00:00.000Z', '2026-11-16T12:00:00.000Z'],
  ['30 1,13 * * *', '2026-11-16T01:30:00.000Z', '2026-11-16T13:30:00.000Z'],
  ['0 9-17/4 * * 1-5', '2026-11-13T17:00:00.000Z', '2026-11-16T09:00:00.000Z'],
  ['0 0 * * 0', '2026-11-15T00:00:00.000Z', '2026-11-22T00:00:00.000Z'],
  ['0 0 * * 7', '2026-11-15T00:00:00.000Z', '2026-11-22T00:00:00.000Z'],
  ['0 0 1 * *', '2026-11-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z'],
  ['0 0 29 2 *', '2024-02-29T00:00:00.000Z', '2028-02-29T00:00:00.000Z'],
  // Matches the 10th of each month and every Saturday.
  ['0 0 10 * 6', '2026-11-14T00:00:00.000Z', '2026-11-21T00:00:00.000Z'],
])('%s has its previous occurrence at %s and its next at %s', (text, last, next) => {
  expect(previousOccurrence(parseCron(text), now)?.toISOString()).toBe(last)
  expect(nextOccurrence(parseCron(text), now)?.toISOString()).toBe(next)
})

test('a schedule for a day that does not exist has no occurrence', () => {
  expect(previousOccurrence(parseCron('0 0 30 2 *'), now)).toBeUndefined()
  expect(nextOccurrence(parseCron('0 0 31 4 *'), now)).toBeUndefined()
})

test('no occurrence lies between the previous and the next occurrence', () => {
  const cron = parseCron('7,37 */5 * * *')
  assert(
    property(
      date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true }),
      (time) => {
        const [last, next] = [previousOccurrence(cron, time), nextOccurrence(cron, time)]
        if (last === undefined || next === undefined) throw new Error('there is one every day')
        expect(last.getTime()).toBeLessThanOrEqual(time.getTime())
        expect(next.getTime()).toBeGreaterThan(time.getTime())
        expect(nextOccurrence(cron, last)).toEqual(next)
        expect(previousOccurrence(cron, new Date(next.getTime() - 1))).toEqual(last)
      },
    ),
  )
})

describe('an invalid cron schedule', () => {
  test.each([
    '',
    '* * * *',
    '* * * * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * * 13 *',
    '* * * * 8',
    '5-1 * * * *',
    '*/0 * * * *',
    'x * * * *',
    '@daily',
    '1,,2 * * * *',
  ])('is refused: %j', (text) => {
    expect(() => parseCron(text)).toThrow('is not a valid cron schedule')
  })
})
