/**
 * Documents that hyperkube prints and stores: plans, events, findings and status. Programs that read the
 * output of `hyperkube ... -o json` check it with these functions and schemas.
 */
import type { z } from 'zod'
import { type Event, eventFormat } from '../contract/event.ts'
import { type Facts, factsFormat } from '../contract/facts.ts'
import { readVersioned, readVersionedLenient } from '../contract/versioned.ts'
import { type PlanDocument, planFormat } from '../lifecycle/proposal/plan-approval.ts'

export type { DoctorDocument as Doctor, DoctorFinding } from '../cli/doctor/document.ts'
export { clusterStatusSchema, type ClusterStatus } from '../contract/cluster-status.ts'
export type { ComponentPlan } from '../contract/component-plan.ts'
export type { Event } from '../contract/event.ts'
export type { Facts } from '../contract/facts.ts'
export { findingSchema, hasErrors, type Finding } from '../contract/finding.ts'
export type { NodePlan } from '../contract/node-plan.ts'
export type { Op } from '../contract/op.ts'
export { HyperkubeError } from '../kit/errors.ts'
export type { PlanDocument as Plan } from '../lifecycle/proposal/plan-approval.ts'
export type { StatusDocument as Status } from '../lifecycle/status/status-report.ts'

/** Schema of the newest version of a plan. */
export const planSchema: z.ZodType<PlanDocument> = planFormat.newest.schema
/** Schema of the newest version of an event. */
export const eventSchema: z.ZodType<Event> = eventFormat.newest.schema
/** Schema of the newest version of the facts of a host. */
export const factsSchema: z.ZodType<Facts> = factsFormat.newest.schema

/**
 * Checks a plan, for example parsed JSON of `hyperkube plan -o json`. Plans of older releases are converted.
 * Throws `CONTRACT_NOT_VALID`, `CONTRACT_VERSION` or `CONTRACT_OTHER_KIND`.
 */
export function parsePlan(value: unknown): PlanDocument {
  return readVersioned(planFormat, value)
}

/** Checks an event, for example one line of `hyperkube up --progress json`. Drops fields of newer releases. */
export function parseEvent(value: unknown): Event {
  return readVersionedLenient(eventFormat, value)
}

/** Checks the facts of a host, which `hyperkube facts -o json` prints. */
export function parseFacts(value: unknown): Facts {
  return readVersioned(factsFormat, value)
}
