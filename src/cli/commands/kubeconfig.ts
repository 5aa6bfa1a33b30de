import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { trustedAuthorities } from '../../identity/trusted-keys.ts'
import { duration, parseDuration } from '../../kit/duration.ts'
import { credentialsFor } from '../../lifecycle/operator-credentials.ts'
import { type Entrance, personalKubeconfig } from '../../pki/kubeconfig.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { type CommandDefinition, exitCodes } from '../command.ts'
import { controlPlanes } from '../control-planes.ts'
import { loadCluster } from '../load-cluster.ts'
import { openIdentity } from '../load-identity.ts'
import { findingsText } from '../print.ts'
import { serverFlag } from '../server-flag.ts'

const day = 24 * 3_600_000
const flags = z.object({
  for: z.number().default(day),
  server: z.string().optional(),
  breakGlass: z.boolean().default(false),
})

/** A group that is bound to the role cluster-admin, and can be unbound again. */
const admins = 'hyperkube:admins'
/** Beyond all roles: for when roles are what is broken. */
const masters = 'system:masters'

export const kubeconfig: CommandDefinition = {
  examples: [
    ['hyperkube kubeconfig > ~/.kube/config', 'for a day, with a context for each control plane'],
    ['hyperkube kubeconfig --for 1h', 'for an hour'],
    ['hyperkube kubeconfig --server https://127.0.0.1:6443', 'by way of hyperkube proxy on this machine'],
    ['hyperkube kubeconfig --break-glass --for 1h', 'past all roles, when they are what is broken'],
  ],
  identity: true,
  configure(command) {
    command
      .option('--for <duration>', 'how long it is good: 1h, 24h (default), 720h', lifetimeFlag)
      .option('--server <url>', 'where the API is reached, instead of spec.api.endpoint', serverFlag)
      .option('--break-glass', 'as system:masters, which no role can keep out')
  },
  async run(context, { options }) {
    const { for: lifetime, server, breakGlass } = flags.parse(options)
    const { cluster, findings } = await loadCluster(context, options.file)
    context.stderr.write(findingsText(findings))
    if (cluster === undefined) return exitCodes.failure
    const { authorities } = await openIdentity(context, options, cluster.metadata.name)
    const { user, machine } = context.operator
    const group = breakGlass ? masters : admins
    const who = `${user}@${machine}`
    const own = await credentialsFor(authorities.kubernetes, who, [group], context.now(), lifetime)
    const config = personalKubeconfig(user, entrances(cluster, server), {
      authority: trustedAuthorities(authorities.kubernetes),
      ...own,
    })
    context.stdout.write(config.revealText())
    context.stderr.write(`good for ${duration(lifetime)}, as ${who} of ${group}; keep it to yourself\n`)
    return exitCodes.ok
  },
}

function lifetimeFlag(text: string): number {
  const milliseconds = parseDuration(text)
  if (milliseconds === undefined || milliseconds < 60_000) {
    throw new InvalidArgumentError('write it as 30m, 8h or 720h; a minute is the least')
  }
  return milliseconds
}

/** What people are to use, then every control plane by itself. */
function entrances(cluster: Cluster, server: string | undefined): Entrance[] {
  const { metadata, spec } = cluster
  const first = server ?? (spec.api.endpoint && `https://${spec.api.endpoint}`)
  return [
    ...(first === undefined ? [] : [{ name: metadata.name, server: first }]),
    ...controlPlanes(cluster).map((one) => ({
      name: `${metadata.name}-${one.name}`,
      server: `https://${one.server}`,
    })),
  ]
}
