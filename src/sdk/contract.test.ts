import { expect, test } from 'vitest'
import { z } from 'zod'
import { eventSchema, parseEvent, parsePlan, planSchema } from './contract.ts'

const event = {
  apiVersion: 'hyperkube.dev/v1',
  kind: 'Event',
  run: '3f0c7b0a-6c0c-4b0e-9d0a-0a4b2f6f9c11',
  sequence: 1,
  time: '2026-11-18T07:00:00.000Z',
  body: { type: 'run-started', command: 'up' },
}

test('an event with fields of a newer release is read without them', () => {
  expect(parseEvent({ ...event, color: 'red' })).toEqual(event)
  expect(eventSchema.safeParse({ ...event, color: 'red' }).success).toBe(false)
})

test('a plan with unknown fields, and another document, are refused', () => {
  const plan = { apiVersion: 'hyperkube.dev/v1', kind: 'Plan', findings: [], steps: [], ops: {}, plans: [] }
  expect(parsePlan(plan)).toEqual(plan)
  expect(() => parsePlan({ ...plan, more: 1 })).toThrow(
    expect.objectContaining({ code: 'CONTRACT_NOT_VALID' }),
  )
  expect(() => parsePlan(event)).toThrow(expect.objectContaining({ code: 'CONTRACT_OTHER_KIND' }))
})

test('schemas can be converted to JSON schemas for other languages', () => {
  expect(z.toJSONSchema(planSchema)).toMatchObject({
    type: 'object',
    required: expect.arrayContaining(['ops']),
  })
})
