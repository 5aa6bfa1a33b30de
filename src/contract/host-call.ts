import { z } from 'zod'
import { artifact } from './component-plan.ts'
import { scm } from './service.ts'
import type { Format } from './versioned.ts'
import { versionPattern } from './windows-paths.ts'

/**
 * What is asked of our own program on a Windows host, without its agent: what has to be done before there is one, and
 * what has to be seen when it is silent. On Linux a shell of the host does that; on Windows nothing is built from strings.
 */
const component = z.string().regex(/^[a-z][a-z0-9-]*$/)
const path = z.string().max(1000)
const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const version = z.string().regex(versionPattern)

/** Milliseconds before now, by the clock of the host, or since 1970. */
const when = z.discriminatedUnion('by', [
  z.strictObject({ by: z.literal('ago'), milliseconds: z.number() }),
  z.strictObject({ by: z.literal('time'), milliseconds: z.number() }),
])

const ask = z.discriminatedUnion('type', [
  /** Which agent there is, whether it runs, and whether it is on trial. */
  z.strictObject({ type: z.literal('look') }),
  /**
   * The program that is asked becomes the host's agent, if it is what it should be. Another one that was there comes back
   * unless `keep` is said in time.
   */
  z.strictObject({
    type: z.literal('install'),
    version,
    sha256,
    /** What starts it, as a plan has it, and the service that it then is. */
    artifact,
    /** A file beside the program that is asked, where what starts it was brought as well: the host may have no way out. */
    beside: z
      .string()
      .regex(/^[a-z0-9][a-z0-9.-]{0,99}$/)
      .optional(),
    service: scm,
    /** The one that goes back to another agent. */
    revert: scm,
  }),
  z.strictObject({ type: z.literal('start') }),
  /** Somebody has spoken with the new agent: the host need not go back. */
  z.strictObject({ type: z.literal('keep') }),
  /** Gives a file that was brought its name, if it is what it should be. What is not goes. */
  z.strictObject({ type: z.literal('take'), temporary: path, target: path, size: z.int().min(0), sha256 }),
  /** Makes these folders of the place for deliveries, and says what is there. */
  z.strictObject({
    type: z.literal('deliveries'),
    folders: z.array(z.string().regex(/^[a-z]+$/)).readonly(),
  }),
  /** Services as their manager sees them. */
  z.strictObject({ type: z.literal('services'), names: z.array(component).readonly() }),
  /** Disks, and programs of services that are gone or empty. */
  z.strictObject({ type: z.literal('ground'), names: z.array(component).readonly() }),
  /** Of each component the lines since a time and up to another, no more than so many of the last; then what comes. */
  z.strictObject({
    type: z.literal('logs'),
    names: z.array(component).readonly(),
    since: when.optional(),
    until: when.optional(),
    lines: z.int().min(0).optional(),
    follow: z.boolean(),
  }),
  /** All that helps to find a fault, file by file. */
  z.strictObject({ type: z.literal('inspect') }),
])

const call = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('HostCall'),
  /** Below which all of ours is. */
  base: path,
  ask,
})
export type HostCall = z.infer<typeof call>
export type HostAsk = HostCall['ask']

export const hostCallFormat: Format<HostCall> = {
  kind: 'HostCall',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: call },
  older: [],
}

const answer = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('look'),
    version: z.string().optional(),
    running: z.boolean(),
    onTrial: z.boolean(),
    /** Whether whoever asks may do what has to be done. */
    administrator: z.boolean(),
    arch: z.string(),
  }),
  z.strictObject({ type: z.literal('installed'), onTrial: z.boolean() }),
  z.strictObject({ type: z.literal('done') }),
  z.strictObject({
    type: z.literal('deliveries'),
    files: z.array(z.strictObject({ path: z.string(), size: z.int() })),
  }),
  z.strictObject({
    type: z.literal('services'),
    version: z.string().optional(),
    services: z.array(
      z.strictObject({
        name: z.string(),
        state: z.enum(['active', 'starting', 'stopped', 'failed', 'missing']),
        enabled: z.boolean().optional(),
        /** How often its agent has seen it start again by itself. */
        restarts: z.int().min(0).optional(),
      }),
    ),
  }),
  z.strictObject({
    type: z.literal('ground'),
    disks: z.array(z.strictObject({ mounted: z.string(), used: z.number() })),
    programs: z.array(z.strictObject({ service: z.string(), path: z.string() })),
  }),
  /** One line of a log; others follow until `done`. */
  z.strictObject({
    type: z.literal('line'),
    component: z.string(),
    /** Microseconds since 1970. */
    time: z.number(),
    priority: z.int(),
    message: z.string(),
  }),
  /** One file; others follow until `done`. */
  z.strictObject({ type: z.literal('file'), file: z.string(), text: z.string() }),
  z.strictObject({
    type: z.literal('refused'),
    code: z.string(),
    message: z.string(),
    hint: z.string().optional(),
  }),
])

const result = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('HostAnswer'),
  answer,
})
export type HostAnswer = z.infer<typeof result>

export const hostAnswerFormat: Format<HostAnswer> = {
  kind: 'HostAnswer',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: result },
  older: [],
}
