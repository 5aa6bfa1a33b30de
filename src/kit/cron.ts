import { HyperkubeError } from './errors.ts'
import { printable } from './printable.ts'

/** Which numbers of each kind are meant. */
export interface Cron {
  readonly minutes: ReadonlySet<number>
  readonly hours: ReadonlySet<number>
  readonly days: ReadonlySet<number>
  readonly months: ReadonlySet<number>
  readonly weekdays: ReadonlySet<number>
  /** As cron has it: where both a day of the month and one of the week are named, either is enough. */
  readonly eitherDay: boolean
}

/** Five fields: minute, hour, day of month, month, day of week, from Sunday, which is 0 or 7. All in UTC. */
export function parseCron(text: string): Cron {
  const fields = text.trim().split(/\s+/)
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields
  if (fields.length !== 5) throw wrong(text)
  const read = (field: string, least: number, most: number): ReadonlySet<number> => {
    const numbers = field.split(',').flatMap((part) => rangeOf(part, least, most) ?? [])
    const isWhole = field.split(',').every((part) => rangeOf(part, least, most) !== undefined)
    if (!isWhole || numbers.length === 0) throw wrong(text)
    return new Set(numbers)
  }
  return {
    minutes: read(minute, 0, 59),
    hours: read(hour, 0, 23),
    days: read(day, 1, 31),
    months: read(month, 1, 12),
    weekdays: new Set([...read(weekday, 0, 7)].map((one) => one % 7)),
    eitherDay: !day.startsWith('*') && !weekday.startsWith('*'),
  }
}

function rangeOf(part: string, least: number, most: number): number[] | undefined {
  const [, all, first, last, step] = /^(?:(\*)|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(part) ?? []
  if (all === undefined && first === undefined) return undefined
  const from = all === undefined ? Number(first) : least
  // `5/10` goes on to the end, `5` is one.
  const single = last === undefined && step === undefined
  const to = all !== undefined || (last === undefined && !single) ? most : Number(last ?? first)
  const every = Number(step ?? 1)
  if (from < least || to > most || from > to || every === 0) return undefined
  return Array.from({ length: Math.floor((to - from) / every) + 1 }, (_, index) => from + index * every)
}

function wrong(text: string): HyperkubeError {
  return new HyperkubeError('MANAGER_SCHEDULE', `${printable(text)} is no schedule that cron would read`, {
    hint: 'five fields, as in 0 */6 * * *: minute, hour, day of month, month, day of week',
  })
}

const day = 86_400_000
/** With a leap year in between, all dates that there are come by. */
const longest = 8 * 366

/** The last moment of the schedule, up to and with this one; undefined when it never comes. */
export function lastMoment(cron: Cron, now: Date): Date | undefined {
  return search(cron, now, -1)
}

/** The first one after this one. */
export function nextMoment(cron: Cron, now: Date): Date | undefined {
  return search(cron, new Date(now.getTime() + 1), 1)
}

function search(cron: Cron, from: Date, way: 1 | -1): Date | undefined {
  const today = Math.floor(from.getTime() / day)
  const times = [...cron.hours]
    .flatMap((hour) => [...cron.minutes].map((minute) => (hour * 60 + minute) * 60_000))
    .toSorted((a, b) => (a - b) * way)
  for (let away = 0; away < longest; away++) {
    const midnight = (today + away * way) * day
    if (!isOn(cron, new Date(midnight))) continue
    const time = times.find((one) => (midnight + one - from.getTime()) * way >= 0)
    if (time !== undefined) return new Date(midnight + time)
  }
  return undefined
}

function isOn({ days, months, weekdays, eitherDay }: Cron, date: Date): boolean {
  if (!months.has(date.getUTCMonth() + 1)) return false
  const [byDay, byWeekday] = [days.has(date.getUTCDate()), weekdays.has(date.getUTCDay())]
  return eitherDay ? byDay || byWeekday : byDay && byWeekday
}
