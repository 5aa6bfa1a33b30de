import { z } from 'zod'
import { toRange } from '../cidr.ts'
import { port } from '../scalars.ts'
import { ipv4Networks, looseBoolean, looseNumber, looseText } from './facts.ts'
import {
  dropKey,
  dropRule,
  forKeys,
  type KeyRule,
  mapKey,
  mapRule,
  parseValue,
  refuseKey,
  type RuleResult,
  type RuleTable,
  secretNames,
  unsupportedRule,
} from './rule.ts'

const flagName = z.string().regex(/^[a-z][a-z0-9-]*$/, 'is not the name of a flag')

function flag(component: string): KeyRule {
  return ({ value, captures }) => {
    const [name = ''] = captures
    if (secretNames.has(String(name))) {
      return refuseKey('looks like a secret; give it to the component in a file')
    }
    return parseValue(flagName, name, () =>
      parseValue(looseText, value, (parsedValue) => {
        const note = parsedValue.startsWith('/')
          ? 'a path of RKE1’s hosts: look whether it is right'
          : undefined
        return mapKey(['spec', 'components', component, 'args', name], parsedValue, note)
      }),
    )
  }
}

/** Builds the rules that all services share. */
function commonRules(service: string, component: string): RuleTable {
  const prefix = `services.${service}.`
  return {
    [`${prefix}image`]: dropRule('RKE1 itself ignored it'),
    [`${prefix}extra_args.*`]: flag(component),
    [`${prefix}extra_args_array`]: unsupportedRule(
      `a flag has one value here; join them in components.${component}.args where the flag takes a list`,
    ),
    [`${prefix}extra_binds`]: dropRule('components run on the host itself and see its files'),
    [`${prefix}extra_env`]: unsupportedRule(
      'components get no environment of yours; look for a flag instead',
    ),
    ...forKeys(
      prefix,
      ['win_extra_args', 'win_extra_args_array', 'win_extra_env'],
      unsupportedRule('settings for Windows hosts alone do not exist yet'),
    ),
    [`${prefix}win_extra_binds`]: dropRule('components run on the host itself and see its files'),
  }
}

const external = unsupportedRule(
  'no external etcd yet; make its hosts part of the cluster with the role etcd',
)
const backups = unsupportedRule(
  'no scheduled snapshots yet; keep taking your own, and its keys out of cluster.yml',
)

const etcd: RuleTable = {
  ...forKeys('services.etcd.', ['external_urls', 'ca_cert', 'cert', 'key', 'path'], external),
  ...forKeys('services.etcd.', ['snapshot', 'creation', 'retention', 'backup_config'], backups),
  ...forKeys('services.etcd.', ['uid', 'gid'], dropRule('hyperkube decides as whom etcd runs')),
}

/**
 * Builds the rule for a network setting. Only an IPv4 network is copied; the IPv6 network of a dual-stack
 * value is not.
 */
function network(name: string): KeyRule {
  return ({ value }) =>
    parseValue(looseText, value, (written) => {
      const path = ['spec', 'network', name]
      const [first] = ipv4Networks(written)
      if (first === undefined) return refuseKey('an IPv4 network is needed; RKE1’s default is written')
      if (!written.includes(',')) return mapKey(path, first)
      return refuseKey('dual-stack is not supported yet: only the IPv4 network is written', [
        { path, value: first },
      ])
    })
}

const nodePorts = looseText.pipe(z.string().regex(/^\d{1,5}-\d{1,5}$/, 'must be a range such as 30000-32767'))

const podSecurity = z.enum(['privileged', 'restricted'])

const positive = looseNumber.pipe(z.int('must be a whole number').min(1, 'must be at least 1'))

const auditing: KeyRule = ({ value }) =>
  value === false
    ? refuseKey('auditing is always on; make room for its files')
    : dropKey('auditing is always on')

const apiServer: RuleTable = {
  'services.kube-api.service_cluster_ip_range': network('services'),
  'services.kube-api.service_node_port_range': mapRule('spec.network.nodePorts', nodePorts),
  'services.kube-api.extra_args.secure-port': mapRule('spec.api.port', looseNumber.pipe(port)),
  'services.kube-api.pod_security_configuration': mapRule('spec.security.podSecurity', podSecurity),
  'services.kube-api.always_pull_images': unsupportedRule(
    'add AlwaysPullImages to components.apiServer.args.enable-admission-plugins',
  ),
  'services.kube-api.secrets_encryption_config': unsupportedRule(
    'its keys are never copied; secrets must be readable without them before you move',
  ),
  'services.kube-api.admission_configuration': unsupportedRule(
    'put its file on the control planes with hosts[].files, and its flag into components.apiServer.args',
  ),
  'services.kube-api.event_rate_limit': unsupportedRule(
    'put its file on the control planes with hosts[].files, and its flag into components.apiServer.args',
  ),
  'services.kube-api.audit_log.enabled': auditing,
  'services.kube-api.audit_log.configuration.max_age': mapRule('spec.security.audit.maxAge', positive),
  'services.kube-api.audit_log.configuration.max_backup': mapRule('spec.security.audit.maxBackups', positive),
  'services.kube-api.audit_log.configuration.max_size': mapRule('spec.security.audit.maxSize', positive),
  'services.kube-api.audit_log.configuration.path': dropRule('hyperkube has places of its own on a host'),
  'services.kube-api.audit_log.configuration.format': dropRule('it is always JSON'),
  'services.kube-api.audit_log.configuration.policy': unsupportedRule(
    'save it as a file beside cluster.yml and name that in security.audit.policy',
  ),
}

const sameServices: KeyRule = ({ value, facts }) =>
  parseValue(looseText, value, (written) =>
    ipv4Networks(written)[0] === facts.services
      ? dropKey('follows from spec.network.services')
      : refuseKey('differs from what the API server has; that one counts'),
  )

const nodePrefix = looseNumber.pipe(z.int('must be a whole number').min(16).max(28))

const controllerManager: RuleTable = {
  'services.kube-controller.cluster_cidr': network('pods'),
  'services.kube-controller.service_cluster_ip_range': sameServices,
  'services.kube-controller.extra_args.node-cidr-mask-size': mapRule('spec.network.nodePrefix', nodePrefix),
}

/** Rule for the DNS address. Only RKE1's default is supported: the tenth address of the service network. */
const dnsServer: KeyRule = ({ value, facts }) =>
  parseValue(looseText, value, (written): RuleResult => {
    const address = ipv4Networks(`${written}/32`)[0]
    const isDefaultAddress =
      address !== undefined && toRange(address).first === toRange(facts.services).first + 10n
    return isDefaultAddress
      ? dropKey('follows from spec.network.services')
      : refuseKey('DNS is at the tenth address of spec.network.services; look for who uses the other one')
  })

const maxPods = looseNumber.pipe(z.int('must be a whole number').min(1).max(1000))

const kubelet: RuleTable = {
  'services.kubelet.cluster_domain': mapRule('spec.network.domain', looseText),
  'services.kubelet.cluster_dns_server': dnsServer,
  'services.kubelet.infra_container_image': dropRule('the version of containerd decides which one is used'),
  'services.kubelet.fail_swap_on': mapRule('spec.components.kubelet.config.failSwapOn', looseBoolean),
  'services.kubelet.generate_serving_certificate': dropRule(
    'certificates of kubelets are hyperkube’s matter',
  ),
  'services.kubelet.extra_args.max-pods': mapRule('spec.components.kubelet.maxPods', maxPods),
  ...forKeys(
    'services.kubelet.extra_args.',
    ['container-runtime', 'container-runtime-endpoint', 'network-plugin', 'pod-infra-container-image'],
    dropRule('hyperkube runs containerd, and says so to the kubelet'),
  ),
}

const proxyMode: KeyRule = ({ value }) =>
  value === 'iptables' || value === 'nftables'
    ? mapKey(['spec', 'components', 'kubeProxy', 'mode'], value)
    : refuseKey('hyperkube chooses between nftables and iptables; components.kubeProxy.mode sets one')

const kubeProxy: RuleTable = {
  'services.kubeproxy.extra_args.proxy-mode': proxyMode,
}

export const rke1ServiceRules: RuleTable = {
  ...commonRules('etcd', 'etcd'),
  ...commonRules('kube-api', 'apiServer'),
  ...commonRules('kube-controller', 'controllerManager'),
  ...commonRules('scheduler', 'scheduler'),
  ...commonRules('kubelet', 'kubelet'),
  ...commonRules('kubeproxy', 'kubeProxy'),
  ...etcd,
  ...apiServer,
  ...controllerManager,
  ...kubelet,
  ...kubeProxy,
}
