import { z } from 'zod'

const inspections = z.array(z.looseObject({ Name: z.string(), Mounts: z.array(z.unknown()).default([]) }))

/**
 * Paths in the output of `docker inspect` that differ after each start of a container: process id, times, the number
 * of restarts, and names that Docker chooses for its network. Controllers exit when they lose their lease, and Docker
 * restarts them.
 */
export const volatileInspection =
  /^(?:RestartCount|State\.(?:Pid|StartedAt|FinishedAt)|NetworkSettings\.(?:SandboxID|SandboxKey)|NetworkSettings\.Networks\.[^.]*\.(?:EndpointID|NetworkID)) /

/**
 * Converts the output of `docker inspect` to sorted lines with container, path and value. Docker prints a list that is
 * not set as null until it reads the container from its disk, and as empty afterwards; both are null here.
 */
export function listInspectedValues(json: string): readonly string[] {
  return inspections
    .parse(JSON.parse(json))
    .flatMap(({ Name, Mounts, ...values }) =>
      // Docker lists mounts in any order.
      flatten({ ...values, Mounts: Mounts.map((mount) => JSON.stringify(mount)).toSorted() })
        .filter((line) => !volatileInspection.test(`${line} `))
        .map((line) => `${Name.replace(/^\//, '')} ${line}`),
    )
    .toSorted()
}

function flatten(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [`${path} = ${JSON.stringify(value)}`]
  const entries = Object.entries(value)
  if (entries.length === 0) return [`${path} = ${Array.isArray(value) ? 'null' : '{}'}`]
  return entries.flatMap(([key, inner]) => flatten(inner, path === '' ? key : `${path}.${key}`))
}
