import { z } from 'zod'
import { ipAddress, labelValue, port } from '../scalars.ts'
import { looseNumber, looseText, textAt } from './facts.ts'
import {
  dropKey,
  dropRule,
  forKeys,
  type KeyRule,
  mapKey,
  parseValue,
  refuseKey,
  type RuleTable,
  secretNames,
  unsupportedRule,
} from './rule.ts'

type Section = 'ingress' | 'dns' | 'monitoring'

const settings: Readonly<Record<Section, string>> = { ingress: 'ingress', dns: 'dns', monitoring: 'metrics' }

/**
 * Builds the rule for the provider of a section. `known` is the provider that hyperkube has too; `replaced`
 * maps other providers to a note about their replacement.
 */
function provider(section: Section, known: string, replaced: Readonly<Record<string, string>>): KeyRule {
  const to = `spec.${settings[section]}`
  return ({ value }) => {
    if (value === 'none') return mapKey(['spec', settings[section]], 'none')
    if (value === known) return { result: { verdict: 'mapped', to }, assignments: [] }
    const note = typeof value === 'string' && Object.hasOwn(replaced, value) ? replaced[value] : undefined
    if (note === undefined) return refuseKey(`hyperkube uses ${to} instead; check that it does the same`)
    return { result: { verdict: 'mapped', to, note }, assignments: [] }
  }
}

/** Applies a rule only if the section is enabled. Settings of a disabled section have no effect. */
function ifEnabled(section: Section, rule: KeyRule): KeyRule {
  return (input) =>
    textAt(input.facts.root, [section, 'provider']) === 'none'
      ? dropKey('ignored without a provider')
      : rule(input)
}

function setting(section: Section, field: string, schema: z.ZodType): KeyRule {
  return ifEnabled(section, ({ value }) =>
    parseValue(schema, value, (parsedValue) => mapKey(['spec', settings[section], field], parsedValue)),
  )
}

function nodeSelector(section: Section): RuleTable {
  const rule = ifEnabled(section, ({ value, captures: [key = ''] }) => {
    if (secretNames.has(String(key))) return refuseKey('looks like a secret; do not store secrets in labels')
    return parseValue(looseText.pipe(labelValue), value, (parsedValue) =>
      mapKey(['spec', settings[section], 'nodeSelector', key], parsedValue),
    )
  })
  return { [`${section}.node_selector.*`]: rule }
}

const forward: KeyRule = ifEnabled('dns', ({ value, captures }) =>
  parseValue(looseText.pipe(ipAddress), value, (server) => ({
    ...mapKey(['spec', 'dns', 'forward', captures[0] ?? 0], server),
    result: { verdict: 'mapped', to: 'spec.dns.forward' },
  })),
)

/** Matches manifests that contain a Secret. Such manifests are not copied. */
const holdsSecrets = /^[\s-]*["']?kind["']?\s*:\s*["']?Secret\b/m

const inline: KeyRule = ({ value }) =>
  parseValue(looseText, value, (manifests) => {
    if (holdsSecrets.test(manifests)) {
      return refuseKey(
        'contains Secrets, which are never copied; save it as a file and set its path in addons[].files',
      )
    }
    return {
      result: { verdict: 'mapped', to: 'spec.addons' },
      assignments: [{ path: ['spec', 'addons', 0], value: { name: 'rke-addons', inline: manifests } }],
    }
  })

const include: KeyRule = ({ value, captures }) =>
  parseValue(looseText, value, (name) => {
    if (/^[a-z]+:\/\//i.test(name)) {
      return refuseKey('a URL needs its digest: addons: [{ name: …, urls: [{ url: …, sha256: … }] }]')
    }
    const path = ['spec', 'addons', 1]
    return {
      result: { verdict: 'mapped', to: 'spec.addons', note: 'the path is relative to the new cluster.yml' },
      assignments: [
        { path: [...path, 'name'], value: 'rke-addons-include' },
        { path: [...path, 'files', captures[0] ?? 0], value: name },
      ],
    }
  })

const tolerations = 'write it by hand in the Kubernetes format'
const strategy = dropRule('hyperkube decides how pods are replaced')
const patch = 'use a patch for the object'

export const rke1AddonRules: RuleTable = {
  'ingress.provider': provider('ingress', 'traefik', {
    nginx: 'Traefik replaces nginx: set ingress.nginxAnnotations, or change the class of Ingresses',
  }),
  'ingress.http_port': setting('ingress', 'httpPort', looseNumber.pipe(port)),
  'ingress.https_port': setting('ingress', 'httpsPort', looseNumber.pipe(port)),
  'ingress.default_ingress_class': setting('ingress', 'defaultClass', z.boolean('must be true or false')),
  ...nodeSelector('ingress'),
  'ingress.tolerations': unsupportedRule(tolerations),
  ...forKeys('ingress.', ['update_strategy'], strategy),
  ...forKeys(
    'ingress.',
    [
      'options',
      'extra_args',
      'extra_envs',
      'extra_volumes',
      'extra_volume_mounts',
      'dns_policy',
      'network_mode',
      'default_backend',
      'default_http_backend_priority_class_name',
      'nginx_ingress_controller_priority_class_name',
    ],
    unsupportedRule('is for nginx; check whether Traefik needs an equivalent'),
  ),
  'dns.provider': provider('dns', 'coredns', { 'kube-dns': 'CoreDNS replaces kube-dns' }),
  'dns.upstreamnameservers[]': forward,
  ...nodeSelector('dns'),
  'dns.tolerations': unsupportedRule(tolerations),
  'dns.update_strategy': strategy,
  'dns.linear_autoscaler_params': dropRule('depends on the number of hosts; to set it: spec.dns.replicas'),
  ...forKeys('dns.', ['reversecidrs', 'stubdomains', 'options'], unsupportedRule(patch)),
  'dns.nodelocal': unsupportedRule('hyperkube has no node-local DNS cache'),
  'monitoring.provider': provider('monitoring', 'metrics-server', {}),
  'monitoring.replicas': setting('monitoring', 'replicas', looseNumber.pipe(z.int().min(1).max(100))),
  ...nodeSelector('monitoring'),
  'monitoring.tolerations': unsupportedRule(tolerations),
  'monitoring.update_strategy': strategy,
  ...forKeys('monitoring.', ['options', 'metrics_server_priority_class_name'], unsupportedRule(patch)),
  addons: inline,
  'addons_include[]': include,
  addon_job_timeout: dropRule('hyperkube has no addon jobs'),
}
