import { z } from 'zod'
import { ipAddress, labelValue, port } from '../scalars.ts'
import { textAt } from './facts.ts'
import {
  dropped,
  drop,
  each,
  parsed,
  refuse,
  type Rule,
  secretNames,
  type Table,
  take,
  unsupported,
} from './rule.ts'
import { number, text } from './scalars.ts'

type Section = 'ingress' | 'dns' | 'monitoring'

const settings: Readonly<Record<Section, string>> = { ingress: 'ingress', dns: 'dns', monitoring: 'metrics' }

/** `known` is the provider that has the same here, and `replaced` those that something else takes the place of. */
function provider(section: Section, known: string, replaced: Readonly<Record<string, string>>): Rule {
  const to = `spec.${settings[section]}`
  return ({ value }) => {
    if (value === 'none') return take(['spec', settings[section]], 'none')
    if (value === known) return { told: { verdict: 'mapped', to }, puts: [] }
    const note = typeof value === 'string' && Object.hasOwn(replaced, value) ? replaced[value] : undefined
    if (note === undefined) return refuse(`${to} is what hyperkube has; look whether it does the same`)
    return { told: { verdict: 'mapped', to, note }, puts: [] }
  }
}

/** What is set for something that is switched off says nothing. */
function whereOn(section: Section, rule: Rule): Rule {
  return (seen) =>
    textAt(seen.facts.root, [section, 'provider']) === 'none'
      ? drop('only counts with a provider')
      : rule(seen)
}

function setting(section: Section, field: string, schema: z.ZodType): Rule {
  return whereOn(section, ({ value }) =>
    parsed(schema, value, (fit) => take(['spec', settings[section], field], fit)),
  )
}

function nodeSelector(section: Section): Table {
  const rule = whereOn(section, ({ value, holes: [key = ''] }) => {
    if (secretNames.has(String(key))) return refuse('looks like a secret; a label is no place for one')
    return parsed(text.pipe(labelValue), value, (fit) =>
      take(['spec', settings[section], 'nodeSelector', key], fit),
    )
  })
  return { [`${section}.node_selector.*`]: rule }
}

const forward: Rule = whereOn('dns', ({ value, holes }) =>
  parsed(text.pipe(ipAddress), value, (server) => ({
    ...take(['spec', 'dns', 'forward', holes[0] ?? 0], server),
    told: { verdict: 'mapped', to: 'spec.dns.forward' },
  })),
)

/** A Secret among the manifests is none that may be copied. */
const holdsSecrets = /^[\s-]*["']?kind["']?\s*:\s*["']?Secret\b/m

const inline: Rule = ({ value }) =>
  parsed(text, value, (manifests) => {
    if (holdsSecrets.test(manifests)) {
      return refuse(
        'it holds Secrets, which are never copied; save it as a file, and name that in addons[].files',
      )
    }
    return {
      told: { verdict: 'mapped', to: 'spec.addons' },
      puts: [{ path: ['spec', 'addons', 0], value: { name: 'rke-addons', inline: manifests } }],
    }
  })

const include: Rule = ({ value, holes }) =>
  parsed(text, value, (name) => {
    if (/^[a-z]+:\/\//i.test(name)) {
      return refuse('an address needs its digest: addons: [{ name: …, urls: [{ url: …, sha256: … }] }]')
    }
    const path = ['spec', 'addons', 1]
    return {
      told: { verdict: 'mapped', to: 'spec.addons', note: 'relative to the new cluster.yml' },
      puts: [
        { path: [...path, 'name'], value: 'rke-addons-include' },
        { path: [...path, 'files', holes[0] ?? 0], value: name },
      ],
    }
  })

const tolerations = 'write it by hand, in the shape that Kubernetes has'
const strategy = dropped('hyperkube decides how pods are replaced')
const patch = 'write a patch of the object that it is for'

export const addons: Table = {
  'ingress.provider': provider('ingress', 'traefik', {
    nginx: 'Traefik takes the place of nginx: give Ingresses its class, and look at their annotations',
  }),
  'ingress.http_port': setting('ingress', 'httpPort', number.pipe(port)),
  'ingress.https_port': setting('ingress', 'httpsPort', number.pipe(port)),
  'ingress.default_ingress_class': setting('ingress', 'defaultClass', z.boolean('must be true or false')),
  ...nodeSelector('ingress'),
  'ingress.tolerations': unsupported(tolerations),
  ...each('ingress.', ['update_strategy'], strategy),
  ...each(
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
    unsupported('is for nginx; look whether Traefik needs the like'),
  ),
  'dns.provider': provider('dns', 'coredns', { 'kube-dns': 'CoreDNS takes the place of kube-dns' }),
  'dns.upstreamnameservers[]': forward,
  ...nodeSelector('dns'),
  'dns.tolerations': unsupported(tolerations),
  'dns.update_strategy': strategy,
  'dns.linear_autoscaler_params': dropped('the number of hosts decides; spec.dns.replicas sets one'),
  ...each('dns.', ['reversecidrs', 'stubdomains', 'options'], unsupported(patch)),
  'dns.nodelocal': unsupported('there is no cache on nodes'),
  'monitoring.provider': provider('monitoring', 'metrics-server', {}),
  'monitoring.replicas': setting('monitoring', 'replicas', number.pipe(z.int().min(1).max(100))),
  ...nodeSelector('monitoring'),
  'monitoring.tolerations': unsupported(tolerations),
  'monitoring.update_strategy': strategy,
  ...each('monitoring.', ['options', 'metrics_server_priority_class_name'], unsupported(patch)),
  addons: inline,
  'addons_include[]': include,
  addon_job_timeout: dropped('hyperkube has no addon jobs'),
}
