import { posix } from 'node:path'
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

const flagName = z.string().regex(/^[a-z][a-z0-9-]*$/, 'is not a valid flag name')

function flag(component: string): KeyRule {
  return ({ value, captures }) => {
    const [name = ''] = captures
    if (secretNames.has(String(name))) {
      return refuseKey('looks like a secret; pass it to the component in a file')
    }
    return parseValue(flagName, name, () =>
      parseValue(looseText, value, (parsedValue) => {
        const note = parsedValue.startsWith('/') ? 'a path on RKE1 hosts: check that it is right' : undefined
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
      `a flag has one value; if it takes a list, join the values in components.${component}.args`,
    ),
    [`${prefix}extra_binds`]: dropRule('components run on the host and can read its files'),
    [`${prefix}extra_env`]: unsupportedRule('components have no custom environment; use a flag instead'),
    ...forKeys(
      prefix,
      ['win_extra_args', 'win_extra_args_array', 'win_extra_env'],
      unsupportedRule('separate settings for Windows hosts are not supported yet'),
    ),
    [`${prefix}win_extra_binds`]: dropRule('components run on the host and can read its files'),
  }
}

const external = unsupportedRule(
  'external etcd is not supported yet; add its hosts to the cluster with the role etcd',
)
const backups = unsupportedRule(
  'not converted; set spec.etcd.snapshots and spec.etcd.backup, and keep keys out of cluster.yml',
)

const etcd: RuleTable = {
  ...forKeys('services.etcd.', ['external_urls', 'ca_cert', 'cert', 'key', 'path'], external),
  ...forKeys('services.etcd.', ['snapshot', 'creation', 'retention', 'backup_config'], backups),
  ...forKeys('services.etcd.', ['uid', 'gid'], dropRule('hyperkube sets the user of etcd')),
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
      if (first === undefined)
        return refuseKey('an IPv4 network is required; replaced by the default of RKE1')
      if (!written.includes(',')) return mapKey(path, first)
      return refuseKey('dual-stack is not converted: only the IPv4 network is kept', [{ path, value: first }])
    })
}

const nodePorts = looseText.pipe(z.string().regex(/^\d{1,5}-\d{1,5}$/, 'must be a range such as 30000-32767'))

const podSecurity = z.enum(['privileged', 'restricted'])

const positive = looseNumber.pipe(z.int('must be a whole number').min(1, 'must be at least 1'))

const auditing: KeyRule = ({ value }) =>
  value === false
    ? refuseKey('auditing is always on; provide disk space for its files')
    : dropKey('auditing is always on')

/**
 * Rule for the CA file of the OIDC provider. hyperkube reads the file from the directory of cluster.yml and
 * writes its content into the authentication file.
 */
const oidcCaFile: KeyRule = ({ value }) =>
  parseValue(looseText, value, (file) =>
    mapKey(
      ['spec', 'components', 'apiServer', 'args', 'oidc-ca-file'],
      posix.basename(file),
      `copy ${file} of an RKE1 host into the directory of cluster.yml`,
    ),
  )

const apiServer: RuleTable = {
  'services.kube-api.service_cluster_ip_range': network('services'),
  'services.kube-api.service_node_port_range': mapRule('spec.network.nodePorts', nodePorts),
  'services.kube-api.extra_args.oidc-ca-file': oidcCaFile,
  'services.kube-api.extra_args.secure-port': mapRule('spec.api.port', looseNumber.pipe(port)),
  'services.kube-api.pod_security_configuration': mapRule('spec.security.podSecurity', podSecurity),
  'services.kube-api.always_pull_images': unsupportedRule(
    'add AlwaysPullImages to components.apiServer.args.enable-admission-plugins',
  ),
  'services.kube-api.secrets_encryption_config': unsupportedRule(
    'keys are never copied; before you migrate, disable the encryption and rewrite all Secrets',
  ),
  'services.kube-api.admission_configuration': unsupportedRule(
    'write its file to the control planes with hosts[].files, and set its flag in components.apiServer.args',
  ),
  'services.kube-api.event_rate_limit': unsupportedRule(
    'write its file to the control planes with hosts[].files, and set its flag in components.apiServer.args',
  ),
  'services.kube-api.audit_log.enabled': auditing,
  'services.kube-api.audit_log.configuration.max_age': mapRule('spec.security.audit.maxAge', positive),
  'services.kube-api.audit_log.configuration.max_backup': mapRule('spec.security.audit.maxBackups', positive),
  'services.kube-api.audit_log.configuration.max_size': mapRule('spec.security.audit.maxSize', positive),
  'services.kube-api.audit_log.configuration.path': dropRule('hyperkube uses its own paths on a host'),
  'services.kube-api.audit_log.configuration.format': dropRule('it is always JSON'),
  'services.kube-api.audit_log.configuration.policy': unsupportedRule(
    'save it as a file next to cluster.yml and set its path in security.audit.policy',
  ),
}

const sameServices: KeyRule = ({ value, facts }) =>
  parseValue(looseText, value, (written) =>
    ipv4Networks(written)[0] === facts.services
      ? dropKey('follows from spec.network.services')
      : refuseKey('differs from the value of the API server, which is used'),
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
      : refuseKey('DNS uses the tenth address of spec.network.services; find clients of the old address')
  })

const maxPods = looseNumber.pipe(z.int('must be a whole number').min(1).max(1000))

const kubelet: RuleTable = {
  'services.kubelet.cluster_domain': mapRule('spec.network.domain', looseText),
  'services.kubelet.cluster_dns_server': dnsServer,
  'services.kubelet.infra_container_image': dropRule('depends on the version of containerd'),
  'services.kubelet.fail_swap_on': mapRule('spec.components.kubelet.config.failSwapOn', looseBoolean),
  'services.kubelet.generate_serving_certificate': dropRule('hyperkube manages kubelet certificates'),
  'services.kubelet.extra_args.max-pods': mapRule('spec.components.kubelet.maxPods', maxPods),
  ...forKeys(
    'services.kubelet.extra_args.',
    ['container-runtime', 'container-runtime-endpoint', 'network-plugin', 'pod-infra-container-image'],
    dropRule('hyperkube runs containerd and configures the kubelet for it'),
  ),
}

const proxyMode: KeyRule = ({ value }) =>
  value === 'iptables' || value === 'nftables'
    ? mapKey(['spec', 'components', 'kubeProxy', 'mode'], value)
    : refuseKey('hyperkube chooses nftables or iptables; to set one: components.kubeProxy.mode')

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
