import { z } from 'zod'
import { port } from '../scalars.ts'
import { looseNumber, looseText } from './facts.ts'
import {
  dropKey,
  dropRule,
  forKeys,
  type KeyRule,
  mapKey,
  parseValue,
  refuseKey,
  type RuleInput,
  type RuleTable,
} from './rule.ts'

const replaced =
  'replaced by flannel and kube-router, which enforces NetworkPolicy but no policies of other plugins; for your own plugin set network.plugin to none'

const plugin: KeyRule = ({ value }) => {
  const path = ['spec', 'network', 'plugin']
  if (value === 'flannel' || value === 'none') return mapKey(path, value)
  return refuseKey(replaced, [{ path, value: 'flannel' }])
}

/** Applies a rule only if the cluster uses this network plugin. Settings of other plugins have no effect. */
function onlyFor(owner: 'canal' | 'flannel', rule: KeyRule): KeyRule {
  return (input) =>
    input.facts.plugin === owner ? rule(input) : dropKey(`ignored without the plugin ${owner}`)
}

/**
 * Builds the rule for a flannel setting. In a cluster with Windows hosts, flannel works only with the value
 * `needed`.
 */
function backend(field: string, schema: z.ZodType<string | number>, needed: string | number): KeyRule {
  return ({ value, facts }) =>
    parseValue(schema, value, (parsedValue) =>
      facts.windows && parsedValue !== needed
        ? refuseKey(`replaced by ${needed}, which flannel needs with Windows hosts`)
        : mapKey(['spec', 'network', 'flannel', field], parsedValue),
    )
}

const type = backend('backend', z.enum(['vxlan', 'host-gw']), 'vxlan')
const vni = backend('vni', looseNumber.pipe(z.int('must be a whole number').min(1).max(16_777_215)), 4096)
const vxlanPort = backend('port', looseNumber.pipe(port), 4789)

/**
 * Maps the interface to each host without an internal address. For other hosts, the internal address already
 * selects the interface.
 */
const iface: KeyRule = ({ value, facts }) =>
  parseValue(looseText, value, (name) => {
    const assignments = facts.hosts.flatMap(({ hasInternalAddress }, index) =>
      hasInternalAddress ? [] : [{ path: ['spec', 'hosts', index, 'interface'], value: name }],
    )
    if (assignments.length === 0) return dropKey('every host has an internal address')
    return { result: { verdict: 'mapped', to: 'spec.hosts[].interface' }, assignments }
  })

const mtu: KeyRule = ({ value, facts }: RuleInput) => {
  if (looseText.safeParse(value).data === '0') return dropKey('flannel chooses it, as in RKE1')
  if (facts.plugin === 'none') return dropKey('ignored without a plugin')
  const schema = looseNumber.pipe(z.int('must be a whole number').min(576).max(65_535))
  return parseValue(schema, value, (parsedValue) =>
    mapKey(['spec', 'network', 'flannel', 'mtu'], parsedValue),
  )
}

const options = (owner: 'canal' | 'flannel', prefix: string): RuleTable => ({
  [`network.options.${owner}_iface`]: onlyFor(owner, iface),
  [`network.options.${prefix}_backend_type`]: onlyFor(owner, type),
  [`network.options.${prefix}_backend_vni`]: onlyFor(owner, vni),
  [`network.options.${prefix}_backend_port`]: onlyFor(owner, vxlanPort),
  [`network.${owner}_network_provider.iface`]: onlyFor(owner, iface),
})

const otherPlugin = dropRule('belongs to a plugin that hyperkube does not install')

export const rke1NetworkRules: RuleTable = {
  'network.plugin': plugin,
  'network.mtu': mtu,
  ...options('canal', 'canal_flannel'),
  ...options('flannel', 'flannel'),
  ...forKeys(
    'network.options.',
    [
      'canal_flex_volume_plugin_dir',
      'canal_priority_class_name',
      'calico_cloud_provider',
      'calico_flex_volume_plugin_dir',
      'calico_node_priority_class_name',
      'calico_kube_controllers_priority_class_name',
      'kube_flannel_priority_class_name',
      'weave_net_priority_class_name',
    ],
    otherPlugin,
  ),
  ...forKeys(
    'network.',
    ['calico_network_provider', 'weave_network_provider', 'aci_network_provider'],
    otherPlugin,
  ),
  ...forKeys(
    'network.',
    ['node_selector', 'tolerations', 'update_strategy'],
    dropRule('flannel runs as a service on every host, not as pods'),
  ),
}
