import {
  hasPlainHttp,
  isEmpty,
  isFalse,
  isNotEmpty,
  isNotTrue,
  isOneOf,
  isTrue,
  isZeroOrLess,
  setsGate,
} from './predicates.ts'
import { configRule, flagRule, type JudgedRule, kubeletRules, type WeakeningSetting } from './setting.ts'

const config = (path: string, rule: JudgedRule): WeakeningSetting =>
  configRule('kubelet', path.split('.'), rule)

/** Rules for settings that decide what pods may do to the node and to other pods. */
export const kubeletPodRules: readonly WeakeningSetting[] = [
  ...kubeletRules('protect-kernel-defaults', 'protectKernelDefaults', {
    severity: 'warning',
    weakens: isNotTrue,
    weak: false,
    safe: true,
    consequence: 'the kubelet changes kernel settings of the host instead of reporting wrong ones',
  }),
  ...kubeletRules('seccomp-default', 'seccompDefault', {
    severity: 'warning',
    weakens: isNotTrue,
    weak: false,
    safe: true,
    consequence: 'containers without a seccomp profile can then use all system calls',
  }),
  ...kubeletRules('pod-max-pids', 'podPidsLimit', {
    severity: 'warning',
    weakens: (value) => isEmpty(value) || isZeroOrLess(value),
    weak: -1,
    safe: 4096,
    consequence: 'one pod can use all process ids of the node',
  }),
  ...kubeletRules('allowed-unsafe-sysctls', 'allowedUnsafeSysctls', {
    severity: 'warning',
    weakens: isNotEmpty,
    weak: ['kernel.msg*'],
    safe: [],
    consequence: 'pods may change kernel settings that upstream does not consider isolated',
  }),
  ...kubeletRules('make-iptables-util-chains', 'makeIPTablesUtilChains', {
    severity: 'warning',
    weakens: isFalse,
    weak: false,
    safe: true,
    consequence: 'the kubelet no longer blocks packets from the network to services on 127.0.0.1 of the host',
  }),
  ...kubeletRules('event-qps', 'eventRecordQPS', {
    severity: 'warning',
    weakens: (value) => !isEmpty(value) && isZeroOrLess(value),
    weak: 0,
    safe: 50,
    consequence: 'a node with failing pods can flood the API server with events',
    hint: 'remove it, or set a limit',
  }),
  ...kubeletRules('local-storage-capacity-isolation', 'localStorageCapacityIsolation', {
    severity: 'warning',
    weakens: isFalse,
    weak: false,
    safe: true,
    consequence: 'one pod can fill the disk of the node',
  }),
  ...kubeletRules('manifest-url', 'staticPodURL', {
    severity: 'error',
    weakens: hasPlainHttp,
    weak: 'http://example.com/pods.yaml',
    safe: 'https://example.com/pods.yaml',
    consequence: 'an attacker on the network can start privileged pods on the node',
    hint: 'create the pods through the API',
  }),
  ...kubeletRules('manifest-url', 'staticPodURL', {
    severity: 'warning',
    weakens: isNotEmpty,
    weak: 'https://example.com/pods.yaml',
    safe: '',
    consequence: 'the server of this address can start privileged pods on the node, without admission',
    hint: 'create the pods through the API',
  }),
  ...kubeletRules('pod-manifest-path', 'staticPodPath', {
    severity: 'allowed',
    weakens: isNotEmpty,
    weak: '/etc/mine/pods',
    safe: '',
    consequence: 'pods of this directory start without admission',
    reason: 'only root of the host writes there, and root can start any process anyway',
  }),
  config('imagePullCredentialsVerificationPolicy', {
    severity: 'warning',
    weakens: isOneOf('NeverVerify'),
    weak: 'NeverVerify',
    safe: 'NeverVerifyPreloadedImages',
    consequence: 'a pod can use private images that another pod has pulled, without their credentials',
  }),
  ...kubeletRules('rotate-certificates', 'rotateCertificates', {
    severity: 'warning',
    weakens: isTrue,
    weak: true,
    safe: false,
    consequence:
      'the kubelet keeps a certificate of its own, also after `hyperkube certs rotate-ca` replaced the CA',
  }),
  flagRule('kubelet', 'feature-gates', {
    severity: 'warning',
    weakens: setsGate('AllAlpha', true),
    weak: 'AllAlpha=true',
    safe: 'AllAlpha=false',
    consequence: 'all alpha features are enabled, which have not been reviewed for production',
    hint: 'name the single features that you need',
  }),
  config('featureGates.AllAlpha', {
    severity: 'warning',
    weakens: isTrue,
    weak: true,
    safe: false,
    consequence: 'all alpha features are enabled, which have not been reviewed for production',
    hint: 'name the single features that you need',
  }),
]
