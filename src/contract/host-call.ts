import { z } from 'zod'
import { artifactSchema } from './component-plan.ts'
import { scm } from './service.ts'
import { versionPattern } from './host-paths.ts'
import type { Format } from './versioned.ts'

const component = z.string().regex(/^[a-z][a-z0-9-]*$/)
const path = z.string().max(1000)
const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const version = z.string().regex(versionPattern)

/** A time: milliseconds before the host's current time (`ago`), or milliseconds since 1970 (`time`). */
const when = z.discriminatedUnion('by', [
  z.strictObject({ by: z.literal('ago'), milliseconds: z.number() }),
  z.strictObject({ by: z.literal('time'), milliseconds: z.number() }),
])

const requestBody = z.discriminatedUnion('type', [
  /** Reads which agent is installed, whether it is running, and whether it is provisional. */
  z.strictObject({ type: z.literal('status') }),
  /**
   * Makes the program that receives this call the agent of the host, if the program's digest matches. The
   * host rolls back to the previous agent unless `keep` is called in time.
   */
  z.strictObject({
    type: z.literal('install'),
    version,
    sha256,
    /** The runner (wrapper program) that starts the agent, as in a plan. */
    artifact: artifactSchema,
    /**
     * File name of an uploaded runner next to the program that receives this call. The file is used if the
     * host cannot download the runner.
     */
    beside: z
      .string()
      .regex(/^[a-z0-9][a-z0-9.-]{0,99}$/)
      .optional(),
    service: scm,
    /** The service that rolls back to the previous agent. */
    rollback: scm,
  }),
  z.strictObject({ type: z.literal('start') }),
  /** Confirms the new agent after a client has connected to it, so the host does not roll back. */
  z.strictObject({ type: z.literal('keep') }),
  /** Renames an uploaded file to its target if size and digest match, and deletes it otherwise. */
  z.strictObject({ type: z.literal('take'), temporary: path, target: path, size: z.int().min(0), sha256 }),
  /** Creates these subdirectories of the upload directory and lists the files that are already uploaded. */
  z.strictObject({
    type: z.literal('uploads'),
    folders: z.array(z.string().regex(/^[a-z]+$/)).readonly(),
  }),
  /** Returns the state of services according to the Windows service manager. */
  z.strictObject({ type: z.literal('services'), names: z.array(component).readonly() }),
  /** Returns disks that are full, and service programs that are missing or empty. */
  z.strictObject({ type: z.literal('disk-state'), names: z.array(component).readonly() }),
  /**
   * Returns log lines of each component between two times, at most the last `lines`. With `follow`, new lines
   * are sent as they appear.
   */
  z.strictObject({
    type: z.literal('logs'),
    names: z.array(component).readonly(),
    since: when.optional(),
    until: when.optional(),
    lines: z.int().min(0).optional(),
    follow: z.boolean(),
  }),
  /** Returns all data that helps to diagnose a problem, as a sequence of files. */
  z.strictObject({ type: z.literal('inspect') }),
])

const call = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('HostCall'),
  /** Directory that contains all files of hyperkube. */
  base: path,
  body: requestBody,
})
/**
 * A call to hyperkube.exe on a Windows host, for installation and diagnosis. The call works without a running
 * agent. Calls are sent as data, not as command lines built from strings.
 */
export type HostCall = z.infer<typeof call>
export type HostCallBody = HostCall['body']

export const hostCallFormat: Format<HostCall> = {
  kind: 'HostCall',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: call },
  older: [],
}

const responseBody = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('status'),
    version: z.string().optional(),
    running: z.boolean(),
    provisional: z.boolean(),
    /** True if the caller has administrator permissions. */
    administrator: z.boolean(),
    arch: z.string(),
  }),
  z.strictObject({ type: z.literal('installed'), provisional: z.boolean() }),
  z.strictObject({ type: z.literal('done') }),
  z.strictObject({
    type: z.literal('uploads'),
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
        /** Number of automatic restarts that the agent has counted. */
        restarts: z.int().min(0).optional(),
      }),
    ),
  }),
  z.strictObject({
    type: z.literal('disk-state'),
    disks: z.array(z.strictObject({ mounted: z.string(), usedShare: z.number() })),
    programs: z.array(z.strictObject({ service: z.string(), path: z.string() })),
  }),
  /** One log line. Each line is a separate response; the last response is `done`. */
  z.strictObject({
    type: z.literal('line'),
    component: z.string(),
    /** Microseconds since 1970. */
    time: z.number(),
    priority: z.int(),
    message: z.string(),
  }),
  /** One file. Each file is a separate response; the last response is `done`. */
  z.strictObject({ type: z.literal('file'), file: z.string(), text: z.string() }),
  z.strictObject({
    type: z.literal('refused'),
    code: z.string(),
    message: z.string(),
    hint: z.string().optional(),
  }),
])

const response = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('HostCallResponse'),
  body: responseBody,
})
export type HostCallResponse = z.infer<typeof response>

export const hostCallResponseFormat: Format<HostCallResponse> = {
  kind: 'HostCallResponse',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: response },
  older: [],
}
