import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { hostRole } from '../../spec/host.ts'

export const hostFlagSchema = z.object({
  user: z.string().optional(),
  address: z.string(),
  roles: z.array(hostRole),
})
export type HostFlag = z.infer<typeof hostFlagSchema>

/** Parses one value of --host and adds it to the hosts of earlier flags. */
export function parseHostFlag(text: string, hosts: readonly HostFlag[] = []): readonly HostFlag[] {
  const [, user, address, names] = /^(?:([^@=]+)@)?([^@=]+)=(.+)$/.exec(text) ?? []
  if (address === undefined || names === undefined) {
    throw new InvalidArgumentError(
      'expected [USER@]ADDRESS=ROLE[,ROLE], such as root@192.168.1.11=control-plane',
    )
  }
  const roles = names.split(',').map((name) => {
    const parsed = hostRole.safeParse(name)
    if (!parsed.success)
      throw new InvalidArgumentError(`unknown role; use one of ${hostRole.options.join(', ')}`)
    return parsed.data
  })
  return [...hosts, { user, address, roles }]
}
