import { expect, test } from 'vitest'
import type { HostStatus } from '../../contract/host-resource.ts'
import { heartbeatIntervalMs, isStatusDue } from './status-due.ts'

const now = Date.parse('2026-11-16T08:00:00Z')
const at = (ago: number): string => new Date(now - ago).toISOString()
const previous: HostStatus = { agent: '1.0.0', heartbeat: at(1000), results: [] }

test('a sign of life is due after a while, and where the clock was set back', () => {
  const same = { ...previous, heartbeat: at(0) }
  expect(isStatusDue(previous, same, now)).toBe(false)
  expect(isStatusDue({ ...previous, heartbeat: at(heartbeatIntervalMs) }, same, now)).toBe(true)
  expect(isStatusDue({ ...previous, heartbeat: at(-60_000) }, same, now)).toBe(true)
  expect(isStatusDue({}, same, now)).toBe(true)
})

test('any other change is reported at once, except fields of others', () => {
  expect(isStatusDue(previous, { ...previous, agent: '1.0.1' }, now)).toBe(true)
  expect(isStatusDue(previous, { ...previous, suspended: 'paused' }, now)).toBe(true)
  const conditions = [
    { type: 'X', status: 'True' as const, reason: '', message: '', lastTransitionTime: at(0) },
  ]
  expect(isStatusDue({ ...previous, conditions }, previous, now)).toBe(false)
})
