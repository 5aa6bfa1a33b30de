import type { ComponentPlan } from '../../contract/component-plan.ts'
import { firewallGroup } from '../../contract/windows-network.ts'
import { computeDigest } from '../../diff/resource.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { WindowsHost } from '../host/host.ts'
import type { FirewallRule } from '../host/windows-operations/firewall.ts'
import { type ResourceHandler, type ResourceObservation, wasAbsent, wasRemoved } from './resource-handler.ts'

type Rule = ComponentPlan['firewall'][number]

/**
 * Handler for Linux. Plans for Linux contain no rules, because the administrator manages the firewall.
 * Findings report closed ports.
 */
export const linuxFirewallRuleHandler: ResourceHandler<'firewall-rule', Rule> = {
  target: 'firewall-rule',
  findSpec: ({ firewall }, name) => firewall.find((rule) => rule.name === name),
  inspect: async () => 'absent',

  async make({ name }, { component }) {
    throw new HyperkubeError('APPLY_NO_FIREWALL', `the firewall rule ${name} is not for a Linux host`, {
      component: component.name,
      hint: 'the plan is for another operating system: set os of the host in cluster.yml, then run the same command again',
    })
  },

  remove: async () => wasAbsent,
}

/**
 * Handler for inbound rules of the Windows firewall. All rules are in hyperkube's rule group; rules of other
 * groups are never changed.
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
  if (!enabled || !inbound || !allows) return { drift: 'it allows no inbound traffic' }
  return computeDigest({ protocol, ports }) === digest ? 'as-written' : { drift: 'its ports changed' }
}
