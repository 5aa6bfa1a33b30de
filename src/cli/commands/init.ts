import { InvalidArgumentError } from 'commander'
import { stringify } from 'yaml'
import { z } from 'zod'
import { HyperkubeError } from '../../kit/errors.ts'
import { role } from '../../spec/host.ts'
import { readCluster } from '../../spec/read.ts'
import { type CommandDefinition, exitCodes } from '../command.ts'
import { findingText } from '../print.ts'

/** The newest version that ran in the lab. */
const kubernetes = '1.37.1'

const hostFlag = z.object({ user: z.string().optional(), address: z.string(), roles: z.array(role) })
type HostFlag = z.infer<typeof hostFlag>

const flags = z.object({ name: z.string(), host: z.array(hostFlag) })

export const init: CommandDefinition = {
  examples: [
    ['hyperkube init --host root@192.168.1.11=control-plane', 'a cluster of one machine'],
    ['hyperkube init --name shop --host 10.0.0.1=control-plane --host 10.0.0.2=worker', 'and of two'],
  ],
  configure(command) {
    command
      .option('--name <name>', 'the cluster’s name', 'cluster')
      .option(
        '--host <[user@]address=role[,role]>',
        'a machine and what it is for; once for each',
        addHost,
        [],
      )
  },
  async run(context, { options }) {
    const { name, host } = flags.parse(options)
    const text = firstFile(name, host)
    const { cluster, findings } = readCluster({ file: options.file, text })
    for (const finding of findings) context.stderr.write(findingText(finding))
    if (cluster === undefined) return exitCodes.failure
    await context.writeNewFile(options.file, text, 0o644).catch((cause: unknown) => {
      throw new HyperkubeError('SPEC_NOT_WRITTEN', `${options.file} could not be written`, {
        hint: 'an existing file is never overwritten; -f names another',
        cause,
      })
    })
    context.stdout.write(`${options.file}\n`)
    context.stderr.write(`wrote ${options.file}; commit it\n  → hyperkube validate -f ${options.file}\n`)
    return exitCodes.ok
  },
}

function addHost(text: string, hosts: readonly HostFlag[]): readonly HostFlag[] {
  const [, user, address, names] = /^(?:([^@=]+)@)?([^@=]+)=(.+)$/.exec(text) ?? []
  if (address === undefined || names === undefined) {
    throw new InvalidArgumentError('write it as root@192.168.1.11=control-plane')
  }
  const roles = names.split(',').map((name) => {
    const parsed = role.safeParse(name)
    if (!parsed.success) throw new InvalidArgumentError(`a role is one of ${role.options.join(', ')}`)
    return parsed.data
  })
  return [...hosts, { user, address, roles }]
}

/** Names hosts by what they are for: cp1, cp2, etcd1, w1. */
function firstFile(name: string, hosts: readonly HostFlag[]): string {
  const counts = new Map<string, number>()
  const named = hosts.map(({ user, address, roles }) => {
    const prefix = roles.includes('control-plane') ? 'cp' : roles.includes('etcd') ? 'etcd' : 'w'
    const count = (counts.get(prefix) ?? 0) + 1
    counts.set(prefix, count)
    return { name: `${prefix}${count}`, address, roles, ...(user === undefined ? {} : { ssh: { user } }) }
  })
  return stringify({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Cluster',
    metadata: { name },
    spec: { kubernetes, hosts: named },
  })
}
