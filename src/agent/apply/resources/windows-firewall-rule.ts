import type { ComponentPlan } from '../../../contract/component-plan.ts'
import { firewallGroup } from '../../../contract/windows-network.ts'
import { computeDigest } from '../../../diff/digest.ts'
import type { WindowsHost } from '../../host/host.ts'
import type { FirewallRule } from '../../windows/operations/firewall.ts'
import { wasAbsent, wasRemoved, type ResourceObservation, type ResourceHandler } from '../resource-handler.ts'

type Rule = ComponentPlan['firewall'][number]

/**
 * Handler for inbound rules of the Windows firewall. All are in hyperkube's rule group; rules of other groups
 * are never changed.
 */
export const windowsFirewallRuleHandler: ResourceHandler<'firewall-rule', Rule, WindowsHost> = {
  target: 'firewall-rule',
  findSpec: ({ firewall }, name) => firewall.find((rule) => rule.name === name),

  inspect: async ({ name, digest }, { host }) => compareRule(await findRule(host, name), digest),

  async make({ name, protocol, ports }, { host, head }) {
    const isCurrent = compareRule(await findRule(host, name), head.digest) === 'as-written'
    if (!isCurrent) await host.operations.firewall.put({ name, protocol, ports, group: firewallGroup })
    return { changed: !isCurrent, resource: { ...head, target: 'firewall-rule' } }
  },

  async remove({ name }, { host }) {
    if ((await findRule(host, name)) === undefined) return wasAbsent
    await host.operations.firewall.remove({ name, group: firewallGroup })
    return wasRemoved
  },
}

async function findRule({ operations }: WindowsHost, name: string): Promise<FirewallRule | undefined> {
  return (await operations.firewall.list({ group: firewallGroup })).find((rule) => rule.name === name)
}

/** Compares a rule with the digest of the planned rule. */
function compareRule(rule: FirewallRule | undefined, digest: string): ResourceObservation {
  if (rule === undefined) return 'absent'
  const { protocol, ports, enabled, inbound, allows } = rule
  if (!enabled || !inbound || !allows) return { drift: 'it lets nothing in' }
  return computeDigest({ protocol, ports }) === digest ? 'as-written' : { drift: 'it is for other ports' }
}
