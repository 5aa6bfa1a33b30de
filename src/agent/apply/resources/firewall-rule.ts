import type { ComponentPlan } from '../../../contract/component-plan.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import { notThere, type Target } from '../resource-handler.ts'

type Rule = ComponentPlan['firewall'][number]

/** On Linux a host's firewall is its administrator's: what must be opened is a finding. No plan for Linux has a rule. */
export const firewallRule: Target<'firewall-rule', Rule> = {
  target: 'firewall-rule',
  wish: ({ firewall }, name) => firewall.find((rule) => rule.name === name),
  inspect: async () => 'absent',

  async make({ name }, { component }) {
    throw new HyperkubeError('APPLY_NO_FIREWALL', `the firewall rule ${name} is not for a Linux host`, {
      component: component.name,
      hint: 'the plan was made for another system: look at os of the host in cluster.yml',
    })
  },

  remove: async () => notThere,
}
