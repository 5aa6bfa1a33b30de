import {
  hasOtherThan,
  isFalse,
  isNotEmpty,
  isNotZero,
  isReachable,
  isTrue,
  isZeroDuration,
} from './predicates.ts'
import { configRule, flagRule, type JudgedRule, kubeletRules, type WeakeningSetting } from './setting.ts'
import { oldTls, suites, verbosityRule, weakCiphers } from './shared.ts'

const config = (path: string, rule: JudgedRule): WeakeningSetting =>
  configRule('kubelet', path.split('.'), rule)

/** Rules for settings that decide who may use the API of the kubelet. */
export const kubeletAccessRules: readonly WeakeningSetting[] = [
  ...kubeletRules('anonymous-auth', 'authentication.anonymous.enabled', {
    severity: 'error',
    weakens: isTrue,
    weak: true,
    safe: false,
    consequence: 'clients without credentials can send requests to the kubelet',
  }),
  ...kubeletRules('authorization-mode', 'authorization.mode', {
    severity: 'error',
    weakens: hasOtherThan('Webhook'),
    weak: 'AlwaysAllow',
    safe: 'Webhook',
    consequence: 'every authenticated client, also every pod, can execute commands in all pods of the node',
  }),
  ...kubeletRules('read-only-port', 'readOnlyPort', {
    severity: 'error',
    weakens: isNotZero,
    weak: 10_255,
    safe: 0,
    consequence:
      'every client that reaches the port reads all pods of the node, with their environment variables',
  }),
  ...kubeletRules('client-ca-file', 'authentication.x509.clientCAFile', {
    severity: 'error',
    weakens: isNotEmpty,
    weak: '/etc/mine/ca.crt',
    safe: '',
    consequence: 'the holder of another CA key can act as any client of the kubelet',
  }),
  config('authentication.webhook.enabled', {
    severity: 'allowed',
    weakens: isFalse,
    weak: false,
    safe: true,
    consequence: 'the kubelet refuses bearer tokens, so metrics-server and monitoring cannot read it',
    reason: 'the kubelet then accepts fewer clients, not more',
  }),
  ...kubeletRules('tls-min-version', 'tlsMinVersion', {
    ...oldTls,
    weak: 'VersionTLS10',
    safe: 'VersionTLS12',
  }),
  ...kubeletRules('tls-cipher-suites', 'tlsCipherSuites', {
    ...weakCiphers,
    weak: [suites.weak],
    safe: [suites.safe],
  }),
  ...kubeletRules('healthz-bind-address', 'healthzBindAddress', {
    severity: 'warning',
    weakens: isReachable,
    weak: '0.0.0.0',
    safe: '127.0.0.1',
    consequence: 'other hosts reach the health port, which has no authentication',
  }),
  flagRule('kubelet', 'streaming-connection-idle-timeout', {
    severity: 'warning',
    weakens: isZeroDuration,
    weak: '0',
    safe: '4h',
    consequence: 'idle exec and port-forward sessions stay open for ever',
  }),
  config('streamingConnectionIdleTimeout', {
    severity: 'allowed',
    weakens: isZeroDuration,
    weak: '0s',
    safe: '4h',
    consequence: 'the timeout of idle exec and port-forward sessions is not set',
    reason: 'in its configuration file the kubelet reads 0 as the default of 4 hours',
  }),
  config('enableSystemLogQuery', {
    severity: 'warning',
    weakens: isTrue,
    weak: true,
    safe: false,
    consequence: 'clients with access to nodes/proxy read the logs of all services of the host',
  }),
  flagRule('kubelet', 'config-dir', {
    severity: 'warning',
    weakens: isNotEmpty,
    weak: '/etc/mine/kubelet.d',
    safe: '',
    consequence: 'files of this directory override the checked configuration of the kubelet, unchecked',
    hint: 'use spec.components.kubelet.config',
  }),
  verbosityRule('kubelet'),
]
