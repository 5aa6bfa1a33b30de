import { HyperkubeError } from './errors.ts'
import { toPrintable } from './text.ts'

/** The values that each field of a cron schedule matches. */
export interface CronSchedule {
  readonly minutes: ReadonlySet<number>
  readonly hours: ReadonlySet<number>
  readonly days: ReadonlySet<number>
  readonly months: ReadonlySet<number>
  readonly weekdays: ReadonlySet<number>
  /**
   * True if day of month and day of week are both restricted. As in cron, a match of either one is then
   * enough.
   */
  readonly matchesEitherDay: boolean
}

/** Parses five fields in UTC: minute, hour, day of month, month, day of week (Sunday is 0 or 7). */
export function parseCron(text: string): CronSchedule {
  const fields = text.trim().split(/\s+/)
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields
  if (fields.length !== 5) throw invalidSchedule(text)
  const parseField = (field: string, min: number, max: number): ReadonlySet<number> => {
    const numbers = field.split(',').flatMap((part) => expandRange(part, min, max) ?? [])
    const isValid = field.split(',').every((part) => expandRange(part, min, max) !== undefined)
    if (!isValid || numbers.length === 0) throw invalidSchedule(text)
    return new Set(numbers)
  }
  return {
    minutes: parseField(minute, 0, 59),
    hours: parseField(hour, 0, 23),
    days: parseField(day, 1, 31),
    months: parseField(month, 1, 12),
    weekdays: new Set([...parseField(weekday, 0, 7)].map((one) => one % 7)),
    matchesEitherDay: !day.startsWith('*') && !weekday.startsWith('*'),
  }
}

function expandRange(part: string, min: number, max: number): number[] | undefined {
  const [, all, first, last, step] = /^(?:(\*)|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(part) ?? []
  if (all === undefined && first === undefined) return undefined
  const from = all === undefined ? Number(first) : min
  // `5/10` continues to the end of the range; `5` is a single value.
  const single = last === undefined && step === undefined
  const to = all !== undefined || (last === undefined && !single) ? max : Number(last ?? first)
  const increment = Number(step ?? 1)
  if (from < min || to > max || from > to || increment === 0) return undefined
  return Array.from(
    { length: Math.floor((to - from) / increment) + 1 },
    (_, index) => from + index * increment,
  )
}

function invalidSchedule(text: string): HyperkubeError {
  return new HyperkubeError('MANAGER_SCHEDULE', `${toPrintable(text)} is not a valid cron schedule`, {
    hint: 'use five fields such as 0 */6 * * *: minute, hour, day of month, month, day of week',
  })
}

const day = 86_400_000
/**
 * Maximum number of days to search for a match. Every valid date, including February 29, normally occurs
 * within eight years.
 */
const maxDays = 8 * 366

/** Returns the last time of the schedule at or before `now`; undefined if the schedule never matches. */
export function previousOccurrence(cron: CronSchedule, now: Date): Date | undefined {
  return findOccurrence(cron, now, -1)
}

/** Returns the first time of the schedule after `now`; undefined if the schedule never matches. */
export function nextOccurrence(cron: CronSchedule, now: Date): Date | undefined {
  return findOccurrence(cron, new Date(now.getTime() + 1), 1)
}

function findOccurrence(cron: CronSchedule, from: Date, direction: 1 | -1): Date | undefined {
  const today = Math.floor(from.getTime() / day)
  const times = [...cron.hours]
    .flatMap((hour) => [...cron.minutes].map((minute) => (hour * 60 + minute) * 60_000))
    .toSorted((a, b) => (a - b) * direction)
  for (let dayOffset = 0; dayOffset < maxDays; dayOffset++) {
    const midnight = (today + dayOffset * direction) * day
    if (!matchesDate(cron, new Date(midnight))) continue
    const time = times.find((one) => (midnight + one - from.getTime()) * direction >= 0)
    if (time !== undefined) return new Date(midnight + time)
  }
  return undefined
}

function matchesDate({ days, months, weekdays, matchesEitherDay }: CronSchedule, date: Date): boolean {
  if (!months.has(date.getUTCMonth() + 1)) return false
  const [byDay, byWeekday] = [days.has(date.getUTCDate()), weekdays.has(date.getUTCDay())]
  return matchesEitherDay ? byDay || byWeekday : byDay && byWeekday
}
