import type { ComponentPlan } from '../../../contract/component-plan.ts'
import { firewallGroup } from '../../../contract/windows-network.ts'
import { digestOf } from '../../../diff/digest.ts'
import type { WindowsHost } from '../../host/host.ts'
import type { FirewallRule } from '../../windows/operations/firewall.ts'
import { notThere, removed, type State, type Target } from '../resource-handler.ts'

type Rule = ComponentPlan['firewall'][number]

/** What Windows lets in. Rules belong to a group of ours, and those of others are never touched. */
export const windowsRule: Target<'firewall-rule', Rule, WindowsHost> = {
  target: 'firewall-rule',
  wish: ({ firewall }, name) => firewall.find((rule) => rule.name === name),

  inspect: async ({ name, digest }, { host }) => stateOf(await ruleOf(host, name), digest),

  async make({ name, protocol, ports }, { host, head }) {
    const is = stateOf(await ruleOf(host, name), head.digest) === 'as-written'
    if (!is) await host.operations.firewall.put({ name, protocol, ports, group: firewallGroup })
    return { changed: !is, thing: { ...head, target: 'firewall-rule' } }
  },

  async remove({ name }, { host }) {
    if ((await ruleOf(host, name)) === undefined) return notThere
    await host.operations.firewall.remove({ name, group: firewallGroup })
    return removed
  },
}

async function ruleOf({ operations }: WindowsHost, name: string): Promise<FirewallRule | undefined> {
  return (await operations.firewall.list({ group: firewallGroup })).find((rule) => rule.name === name)
}

/** Against the digest of what the plan says of it. */
function stateOf(rule: FirewallRule | undefined, digest: string): State {
  if (rule === undefined) return 'absent'
  const { protocol, ports, enabled, inbound, allows } = rule
  if (!enabled || !inbound || !allows) return { drift: 'it lets nothing in' }
  return digestOf({ protocol, ports }) === digest ? 'as-written' : { drift: 'it is for other ports' }
}
