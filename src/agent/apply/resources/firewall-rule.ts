import type { ComponentPlan } from '../../../contract/component-plan.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import { wasAbsent, type ResourceHandler } from '../resource-handler.ts'

type Rule = ComponentPlan['firewall'][number]

/**
 * Handler for Linux, where the administrator manages the firewall and closed ports are reported as findings.
 * Plans for Linux contain no rule.
 */
export const linuxFirewallRuleHandler: ResourceHandler<'firewall-rule', Rule> = {
  target: 'firewall-rule',
  findSpec: ({ firewall }, name) => firewall.find((rule) => rule.name === name),
  inspect: async () => 'absent',

  async make({ name }, { component }) {
    throw new HyperkubeError('APPLY_NO_FIREWALL', `the firewall rule ${name} is not for a Linux host`, {
      component: component.name,
      hint: 'the plan was made for another system: look at os of the host in cluster.yml',
    })
  },

  remove: async () => wasAbsent,
}
