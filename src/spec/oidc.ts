import { isAbsolute, win32 } from 'node:path'
import { type ClusterRule, problem, type Problem, warningProblem } from './problem.ts'

/** A token claim and the prefix of its values, in the form of kube-apiserver's authentication file. */
interface PrefixedClaim {
  readonly claim: string
  readonly prefix: string
}

/** The OIDC flags of kube-apiserver with their defaults. */
export interface OidcSettings {
  readonly issuer: string
  readonly audience: string
  /** Path of a PEM file, relative to cluster.yml. */
  readonly caFile?: string
  readonly username: PrefixedClaim
  readonly groups?: PrefixedClaim
  readonly requiredClaim?: { readonly claim: string; readonly requiredValue: string }
}

type OidcArgs = Readonly<Record<string, string>>

/** Flags that have an equivalent in an authentication file. */
const translated: ReadonlySet<string> = new Set([
  'oidc-issuer-url',
  'oidc-client-id',
  'oidc-ca-file',
  'oidc-username-claim',
  'oidc-username-prefix',
  'oidc-groups-claim',
  'oidc-groups-prefix',
  'oidc-required-claim',
])

export function isOidcFlag(flag: string): boolean {
  return flag.startsWith('oidc-')
}

/** Reads the OIDC flags of kube-apiserver, or returns undefined if there are none. */
export function readOidcFlags(args: OidcArgs): OidcSettings | undefined {
  if (!Object.keys(args).some(isOidcFlag)) return undefined
  const {
    'oidc-issuer-url': issuer = '',
    'oidc-client-id': audience = '',
    'oidc-ca-file': caFile = '',
  } = args
  const claim = args['oidc-username-claim'] ?? 'sub'
  const groupsClaim = args['oidc-groups-claim'] ?? ''
  const requiredClaim = readRequiredClaim(args['oidc-required-claim'])
  return {
    issuer,
    audience,
    ...(caFile === '' ? {} : { caFile }),
    username: { claim, prefix: readUsernamePrefix(args['oidc-username-prefix'] ?? '', claim, issuer) },
    ...(groupsClaim === ''
      ? {}
      : { groups: { claim: groupsClaim, prefix: args['oidc-groups-prefix'] ?? '' } }),
    ...(requiredClaim === undefined ? {} : { requiredClaim }),
  }
}

/** Returns the prefix that kube-apiserver would use for the flag. */
function readUsernamePrefix(prefix: string, claim: string, issuer: string): string {
  if (prefix === '-') return ''
  return prefix === '' && claim !== 'email' ? `${issuer}#` : prefix
}

function readRequiredClaim(text: string | undefined): OidcSettings['requiredClaim'] {
  const [, claim, requiredValue] = /^\s*([^=]*[^=\s])\s*=(.*)$/s.exec(text ?? '') ?? []
  return claim === undefined || requiredValue === undefined
    ? undefined
    : { claim, requiredValue: requiredValue.trim() }
}

/** Refuses OIDC flags that cannot become an authenticator of the authentication file. */
export const checkOidc: ClusterRule = ({ spec }) => {
  const { args } = spec.components.apiServer
  const flags = Object.keys(args).filter(isOidcFlag)
  if (flags.length === 0) return []
  const defaultIssuer = `https://kubernetes.default.svc.${spec.network.domain}`
  return [
    ...flags.filter((flag) => !translated.has(flag)).map(refuseUntranslated),
    ...checkFileConflict(args),
    ...checkRequiredFlags(args),
    ...checkIssuer(args['oidc-issuer-url'] ?? '', args['service-account-issuer'] ?? defaultIssuer),
    ...checkValues(args),
  ].map((one) => ({ ...one, component: 'kube-apiserver' }))
}

function flagPath(flag: string): string[] {
  return ['spec', 'components', 'apiServer', 'args', flag]
}

function refuseUntranslated(flag: string): Problem {
  const message =
    flag === 'oidc-signing-algs'
      ? 'has no equivalent in the authentication file: kube-apiserver then accepts all asymmetric algorithms'
      : 'has no equivalent in the authentication file of kube-apiserver'
  const hint = 'remove it; or write your own file and set authentication-config instead of all oidc-* flags'
  return problem('OIDC_NOT_TRANSLATED', flagPath(flag), message, hint)
}

function checkFileConflict(args: OidcArgs): Problem[] {
  if ((args['authentication-config'] ?? '') === '') return []
  const message = 'cannot be set together with oidc-* flags, which hyperkube writes into its own file'
  const hint = 'remove authentication-config, or move the oidc-* flags into its file'
  return [problem('OIDC_NOT_TRANSLATED', flagPath('authentication-config'), message, hint)]
}

function checkRequiredFlags(args: OidcArgs): Problem[] {
  const required = ['oidc-issuer-url', 'oidc-client-id'].filter((flag) => (args[flag] ?? '') === '')
  const emptyClaim = args['oidc-username-claim'] === '' ? ['oidc-username-claim'] : []
  return [...required, ...emptyClaim].map((flag) =>
    problem('OIDC_INVALID', flagPath(flag), 'must have a value when an oidc-* flag is set', `set ${flag}`),
  )
}

function checkIssuer(issuer: string, serviceAccountIssuer: string): Problem[] {
  if (issuer === '') return []
  const path = flagPath('oidc-issuer-url')
  const url = URL.parse(issuer)
  // Plain http is accepted here, because the table of weakening settings already reports it.
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return [problem('OIDC_INVALID', path, 'must be an https URL', 'copy `issuer` from the provider')]
  }
  if (/[?#]/.test(issuer) || url.username !== '' || url.password !== '') {
    const message = 'must not contain a user, a password, a query or a fragment'
    return [problem('OIDC_INVALID', path, message, 'copy `issuer` from the provider')]
  }
  if (issuer !== serviceAccountIssuer) return []
  const message = 'is the issuer of service account tokens, which cannot be an OIDC provider'
  return [problem('OIDC_INVALID', path, message, 'use the address of your identity provider')]
}

function checkValues(args: OidcArgs): Problem[] {
  const caFile = args['oidc-ca-file'] ?? ''
  const required = args['oidc-required-claim']
  const groups = readOidcFlags(args)?.groups
  return [
    ...(isAbsolute(caFile) || win32.isAbsolute(caFile)
      ? [
          problem(
            'OIDC_NOT_TRANSLATED',
            flagPath('oidc-ca-file'),
            'is a path on the hosts, but hyperkube writes the certificate into the authentication file',
            'copy the file into the directory of cluster.yml, and set its path relative to cluster.yml',
          ),
        ]
      : []),
    ...(required !== undefined && readRequiredClaim(required) === undefined
      ? [problem('OIDC_INVALID', flagPath('oidc-required-claim'), 'must be one claim: NAME=VALUE')]
      : []),
    ...(groups?.prefix === '' && args['oidc-groups-prefix'] === undefined
      ? [
          warningProblem(
            'FLAG_WEAKENS',
            flagPath('oidc-groups-claim'),
            'weakens the cluster: without oidc-groups-prefix the provider can put its users into system:masters',
            'set oidc-groups-prefix, for example to oidc:',
          ),
        ]
      : []),
  ]
}
