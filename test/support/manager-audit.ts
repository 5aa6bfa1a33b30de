import { z } from 'zod'
import type { Host } from '../../lab/hosts/host.ts'
import { settleAll } from '../../src/kit/concurrency.ts'

const entry = z.object({
  stage: z.string(),
  verb: z.string(),
  stageTimestamp: z.string(),
  user: z.object({ username: z.string() }),
  impersonatedUser: z.object({ username: z.string() }).optional(),
  objectRef: z
    .object({
      resource: z.string().optional(),
      subresource: z.string().optional(),
      name: z.string().optional(),
    })
    .optional(),
  responseStatus: z.object({ code: z.int().optional() }).optional(),
})

export interface AuditEntry {
  readonly at: number
  readonly user: string
  readonly verb: string
  readonly what: string
  readonly code: number
}

const readVerbs = new Set(['get', 'list', 'watch'])

/**
 * Reads the audit entries of hyperkube's controllers and agents from all API servers. Entries about leases
 * and events are left out.
 */
export async function readAudit(controlPlanes: readonly Host[]): Promise<AuditEntry[]> {
  const texts = await settleAll(
    controlPlanes.map(async (host) => {
      const { stdout } = await host.script(
        `cat $(find /var/log -name 'audit*.log') | grep -E '"(username)":"(hyperkube:controller:|system:node:)' || true`,
      )
      return stdout
    }),
  )
  return texts
    .flatMap((text) => text.split('\n'))
    .filter((line) => line.startsWith('{'))
    .map((line) => entry.parse(JSON.parse(line)))
    .filter(({ stage }) => stage === 'ResponseComplete')
    .map(({ stageTimestamp, user, impersonatedUser, verb, objectRef, responseStatus }) => ({
      at: Date.parse(stageTimestamp),
      user: (impersonatedUser ?? user).username,
      verb,
      what: [objectRef?.resource, objectRef?.subresource].filter(Boolean).join('/'),
      code: responseStatus?.code ?? 0,
    }))
}

export function isWrite({ verb }: AuditEntry): boolean {
  return !readVerbs.has(verb)
}
