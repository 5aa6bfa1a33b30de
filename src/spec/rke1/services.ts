import { z } from 'zod'
import { rangeOf } from '../cidr.ts'
import { port } from '../scalars.ts'
import { ipv4Networks } from './facts.ts'
import {
  drop,
  dropped,
  each,
  mapped,
  type Outcome,
  parsed,
  refuse,
  type Rule,
  secretNames,
  type Table,
  take,
  unsupported,
} from './rule.ts'
import { number, text, truth } from './scalars.ts'

const flagName = z.string().regex(/^[a-z][a-z0-9-]*$/, 'is not the name of a flag')

function flag(component: string): Rule {
  return ({ value, holes }) => {
    const [name = ''] = holes
    if (secretNames.has(String(name))) {
      return refuse('looks like a secret; give it to the component in a file')
    }
    return parsed(flagName, name, () =>
      parsed(text, value, (fit) => {
        const note = fit.startsWith('/') ? 'a path of RKE1’s hosts: look whether it is right' : undefined
        return take(['spec', 'components', component, 'args', name], fit, note)
      }),
    )
  }
}

/** What every service has. */
function common(service: string, component: string): Table {
  const prefix = `services.${service}.`
  return {
    [`${prefix}image`]: dropped('RKE1 itself ignored it'),
    [`${prefix}extra_args.*`]: flag(component),
    [`${prefix}extra_args_array`]: unsupported(
      `a flag has one value here; join them in components.${component}.args where the flag takes a list`,
    ),
    [`${prefix}extra_binds`]: dropped('components run on the host itself and see its files'),
    [`${prefix}extra_env`]: unsupported('components get no environment of yours; look for a flag instead'),
    ...each(
      prefix,
      ['win_extra_args', 'win_extra_args_array', 'win_extra_env'],
      unsupported('settings for Windows hosts alone do not exist yet'),
    ),
    [`${prefix}win_extra_binds`]: dropped('components run on the host itself and see its files'),
  }
}

const external = unsupported('no external etcd yet; make its hosts part of the cluster with the role etcd')
const backups = unsupported(
  'no scheduled snapshots yet; keep taking your own, and its keys out of cluster.yml',
)

const etcd: Table = {
  ...each('services.etcd.', ['external_urls', 'ca_cert', 'cert', 'key', 'path'], external),
  ...each('services.etcd.', ['snapshot', 'creation', 'retention', 'backup_config'], backups),
  ...each('services.etcd.', ['uid', 'gid'], dropped('hyperkube decides as whom etcd runs')),
}

/** One IPv4 network; of two families that one is kept. */
function network(name: string): Rule {
  return ({ value }) =>
    parsed(text, value, (written) => {
      const path = ['spec', 'network', name]
      const [first] = ipv4Networks(written)
      if (first === undefined) return refuse('an IPv4 network is needed; RKE1’s default is written')
      if (!written.includes(',')) return take(path, first)
      return refuse('dual-stack is not supported yet: only the IPv4 network is written', [
        { path, value: first },
      ])
    })
}

const nodePorts = text.pipe(z.string().regex(/^\d{1,5}-\d{1,5}$/, 'must be a range such as 30000-32767'))

const podSecurity = z.enum(['privileged', 'restricted'])

const positive = number.pipe(z.int('must be a whole number').min(1, 'must be at least 1'))

const auditing: Rule = ({ value }) =>
  value === false ? refuse('auditing is always on; make room for its files') : drop('auditing is always on')

const apiServer: Table = {
  'services.kube-api.service_cluster_ip_range': network('services'),
  'services.kube-api.service_node_port_range': mapped('spec.network.nodePorts', nodePorts),
  'services.kube-api.extra_args.secure-port': mapped('spec.api.port', number.pipe(port)),
  'services.kube-api.pod_security_configuration': mapped('spec.security.podSecurity', podSecurity),
  'services.kube-api.always_pull_images': unsupported(
    'add AlwaysPullImages to components.apiServer.args.enable-admission-plugins',
  ),
  'services.kube-api.secrets_encryption_config': unsupported(
    'its keys are never copied; secrets must be readable without them before you move',
  ),
  'services.kube-api.admission_configuration': unsupported(
    'put its file on the control planes with hosts[].files, and its flag into components.apiServer.args',
  ),
  'services.kube-api.event_rate_limit': unsupported(
    'put its file on the control planes with hosts[].files, and its flag into components.apiServer.args',
  ),
  'services.kube-api.audit_log.enabled': auditing,
  'services.kube-api.audit_log.configuration.max_age': mapped('spec.security.audit.maxAge', positive),
  'services.kube-api.audit_log.configuration.max_backup': mapped('spec.security.audit.maxBackups', positive),
  'services.kube-api.audit_log.configuration.max_size': mapped('spec.security.audit.maxSize', positive),
  'services.kube-api.audit_log.configuration.path': dropped('hyperkube has places of its own on a host'),
  'services.kube-api.audit_log.configuration.format': dropped('it is always JSON'),
  'services.kube-api.audit_log.configuration.policy': unsupported(
    'save it as a file beside cluster.yml and name that in security.audit.policy',
  ),
}

const sameServices: Rule = ({ value, facts }) =>
  parsed(text, value, (written) =>
    ipv4Networks(written)[0] === facts.services
      ? drop('follows from spec.network.services')
      : refuse('differs from what the API server has; that one counts'),
  )

const nodePrefix = number.pipe(z.int('must be a whole number').min(16).max(28))

const controllerManager: Table = {
  'services.kube-controller.cluster_cidr': network('pods'),
  'services.kube-controller.service_cluster_ip_range': sameServices,
  'services.kube-controller.extra_args.node-cidr-mask-size': mapped('spec.network.nodePrefix', nodePrefix),
}

/** The tenth address of the services, where DNS is in every cluster of RKE1 that did not say otherwise. */
const dnsServer: Rule = ({ value, facts }) =>
  parsed(text, value, (written): Outcome => {
    const address = ipv4Networks(`${written}/32`)[0]
    const usual = address !== undefined && rangeOf(address).first === rangeOf(facts.services).first + 10n
    return usual
      ? drop('follows from spec.network.services')
      : refuse('DNS is at the tenth address of spec.network.services; look for who uses the other one')
  })

const maxPods = number.pipe(z.int('must be a whole number').min(1).max(1000))

const kubelet: Table = {
  'services.kubelet.cluster_domain': mapped('spec.network.domain', text),
  'services.kubelet.cluster_dns_server': dnsServer,
  'services.kubelet.infra_container_image': dropped('the version of containerd decides which one is used'),
  'services.kubelet.fail_swap_on': mapped('spec.components.kubelet.config.failSwapOn', truth),
  'services.kubelet.generate_serving_certificate': dropped('certificates of kubelets are hyperkube’s matter'),
  'services.kubelet.extra_args.max-pods': mapped('spec.components.kubelet.maxPods', maxPods),
  ...each(
    'services.kubelet.extra_args.',
    ['container-runtime', 'container-runtime-endpoint', 'network-plugin', 'pod-infra-container-image'],
    dropped('hyperkube runs containerd, and says so to the kubelet'),
  ),
}

const proxyMode: Rule = ({ value }) =>
  value === 'iptables' || value === 'nftables'
    ? take(['spec', 'components', 'kubeProxy', 'mode'], value)
    : refuse('hyperkube chooses between nftables and iptables; components.kubeProxy.mode sets one')

const kubeProxy: Table = {
  'services.kubeproxy.extra_args.proxy-mode': proxyMode,
}

export const services: Table = {
  ...common('etcd', 'etcd'),
  ...common('kube-api', 'apiServer'),
  ...common('kube-controller', 'controllerManager'),
  ...common('scheduler', 'scheduler'),
  ...common('kubelet', 'kubelet'),
  ...common('kubeproxy', 'kubeProxy'),
  ...etcd,
  ...apiServer,
  ...controllerManager,
  ...kubelet,
  ...kubeProxy,
}
