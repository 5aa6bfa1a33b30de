import { expect, test } from 'vitest'
import type { HostStatus } from '../../contract/host-resource.ts'
import { heartbeatEvery, isDue } from './status-due.ts'

const now = Date.parse('2026-11-16T08:00:00Z')
const at = (ago: number): string => new Date(now - ago).toISOString()
const told: HostStatus = { agent: '1.0.0', heartbeat: at(1000), results: [] }

test('a sign of life is due after a while, and where the clock was set back', () => {
  const same = { ...told, heartbeat: at(0) }
  expect(isDue(told, same, now)).toBe(false)
  expect(isDue({ ...told, heartbeat: at(heartbeatEvery) }, same, now)).toBe(true)
  expect(isDue({ ...told, heartbeat: at(-60_000) }, same, now)).toBe(true)
  expect(isDue({}, same, now)).toBe(true)
})

test('anything else is told at once, but for what others say', () => {
  expect(isDue(told, { ...told, agent: '1.0.1' }, now)).toBe(true)
  expect(isDue(told, { ...told, idle: 'paused' }, now)).toBe(true)
  const conditions = [
    { type: 'X', status: 'True' as const, reason: '', message: '', lastTransitionTime: at(0) },
  ]
  expect(isDue({ ...told, conditions }, told, now)).toBe(false)
})
