import { z } from 'zod'
import { defineChange, defineRead } from './operation.ts'

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

const ruleSpec = z.strictObject({
  name: ruleName,
  group,
  protocol: z.enum(['tcp', 'udp']),
  ports: z.string().regex(/^\d+(-\d+)?$/),
})
export type WindowsFirewallRuleSpec = z.output<typeof ruleSpec>

export const firewallOperations = {
  /** Lists the rules of one group. A group contains only rules of one owner. */
  list: defineRead({
    name: 'firewall.list',
    input: z.strictObject({ group }),
    output: z.array(rule),
    uses: ['Get-NetFirewallRule', 'Get-NetFirewallPortFilter'],
  }),
  /**
   * Allows inbound traffic. Replaces a rule with the same name and group; a rule of another group with that
   * name is an error.
   */
  put: defineChange({
    name: 'firewall.put',
    input: ruleSpec,
    uses: ['Get-NetFirewallRule', 'Remove-NetFirewallRule', 'New-NetFirewallRule'],
  }),
  remove: defineChange({
    name: 'firewall.remove',
    input: z.strictObject({ name: ruleName, group }),
    uses: ['Get-NetFirewallRule', 'Remove-NetFirewallRule'],
  }),
}
