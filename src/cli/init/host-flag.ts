import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { role } from '../../spec/host.ts'

export const hostFlag = z.object({ user: z.string().optional(), address: z.string(), roles: z.array(role) })
export type HostFlag = z.infer<typeof hostFlag>

/** What stands after --host, added to those before. */
export function addHost(text: string, hosts: readonly HostFlag[] = []): readonly HostFlag[] {
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
