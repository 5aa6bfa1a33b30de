import {
  hasOtherThan,
  hasWeakCipher,
  isAtLeast,
  isOldTls,
  isOneOf,
  isReachable,
  isTrue,
} from './predicates.ts'
import { flagRule, type WeakenedComponent, type WeakeningSetting } from './setting.ts'

export const oldTls = {
  severity: 'error',
  weakens: isOldTls,
  consequence: 'clients can then connect with TLS 1.0 or 1.1, whose encryption is broken',
} as const

export const weakCiphers = {
  severity: 'error',
  weakens: hasWeakCipher,
  consequence: 'connections without forward secrecy or authenticated encryption become possible',
  hint: 'list only ECDHE suites with GCM or POLY1305, or remove it',
} as const

/** Cipher suites for the examples of the table. */
export const suites = {
  weak: 'TLS_RSA_WITH_AES_128_CBC_SHA',
  safe: 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
} as const

/** Rules for the TLS settings of a Kubernetes program that serves HTTPS. */
export function servingRules(
  component: WeakenedComponent,
  weak: string,
  safe: string,
): readonly WeakeningSetting[] {
  return [
    flagRule(component, 'tls-min-version', { ...oldTls, weak, safe }),
    flagRule(component, 'tls-cipher-suites', { ...weakCiphers, ...suites }),
  ]
}

/**
 * Builds the rule for the log level. From level 8 on, Kubernetes programs log the contents of requests and
 * responses.
 */
export function verbosityRule(component: WeakenedComponent): WeakeningSetting {
  return flagRule(component, 'v', {
    severity: 'warning',
    weakens: isAtLeast(8),
    weak: '8',
    safe: '4',
    consequence: 'the log of the service then contains bodies of API requests, also Secrets and tokens',
    hint: 'use at most v: 7, and remove it after the search',
  })
}

/** Rules that kube-controller-manager and kube-scheduler share. */
export function controlLoopRules(component: WeakenedComponent): readonly WeakeningSetting[] {
  return [
    flagRule(component, 'bind-address', {
      severity: 'warning',
      weakens: isReachable,
      weak: '0.0.0.0',
      safe: '127.0.0.1',
      consequence:
        'other hosts reach its health and metrics port, so an error in its authentication is exposed',
      hint: 'remove it, or allow the port only for your monitoring in a firewall',
    }),
    flagRule(component, 'authorization-always-allow-paths', {
      severity: 'error',
      weakens: hasOtherThan('/healthz', '/readyz', '/livez', '/metrics'),
      weak: '/healthz,/*',
      safe: '/healthz,/readyz,/livez',
      consequence: 'clients without credentials reach paths other than health and metrics',
    }),
    flagRule(component, 'authorization-always-allow-paths', {
      severity: 'warning',
      weakens: isOneOf('/metrics'),
      weak: '/metrics',
      safe: '/healthz',
      consequence: 'clients without credentials read the metrics, which name objects of the cluster',
      hint: 'give your monitoring a token with access to /metrics',
    }),
    flagRule(component, 'profiling', {
      severity: 'warning',
      weakens: isTrue,
      weak: 'true',
      safe: 'false',
      consequence: 'clients with access to /debug/pprof can read memory contents and slow the program down',
    }),
    ...servingRules(component, 'VersionTLS11', 'VersionTLS13'),
    verbosityRule(component),
  ]
}
