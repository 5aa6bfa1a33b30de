import { z } from 'zod'
import { changing, looking } from './operation.ts'

const rule = z
  .object({
    Name: z.string(),
    Group: z.string().nullable(),
    Enabled: z.enum(['True', 'False']),
    Direction: z.enum(['Inbound', 'Outbound']),
    Action: z.string(),
    Protocol: z.string(),
    LocalPort: z.array(z.string()),
  })
  .transform((raw) => ({
    name: raw.Name,
    group: raw.Group ?? '',
    enabled: raw.Enabled === 'True',
    inbound: raw.Direction === 'Inbound',
    allows: raw.Action === 'Allow',
    protocol: raw.Protocol.toLowerCase(),
    ports: raw.LocalPort.join(','),
  }))
export type FirewallRule = z.output<typeof rule>

const ruleName = z.string().regex(/^[a-z][a-z0-9-]{0,100}$/)
const group = z.string().regex(/^[a-z][a-z0-9-]{0,60}$/)

const ruleWish = z.strictObject({
  name: ruleName,
  group,
  protocol: z.enum(['tcp', 'udp']),
  ports: z.string().regex(/^\d+(-\d+)?$/),
})
export type FirewallWish = z.output<typeof ruleWish>

export const firewall = {
  /** Rules belong to whoever has made their group. */
  list: looking({
    name: 'firewall.list',
    input: z.strictObject({ group }),
    output: z.array(rule),
    uses: ['Get-NetFirewallRule', 'Get-NetFirewallPortFilter'],
  }),
  /** Lets something in. One of the same name and group is replaced; one of another group is somebody else's, and an error. */
  put: changing({
    name: 'firewall.put',
    input: ruleWish,
    uses: ['Get-NetFirewallRule', 'Remove-NetFirewallRule', 'New-NetFirewallRule'],
  }),
  remove: changing({
    name: 'firewall.remove',
    input: z.strictObject({ name: ruleName, group }),
    uses: ['Get-NetFirewallRule', 'Remove-NetFirewallRule'],
  }),
}
