import { parseImage } from '../../contract/image-reference.ts'
import { formatError, HyperkubeError } from '../../kit/errors.ts'

interface PullProblem {
  readonly code: string
  /** Matches the message of containerd. */
  readonly pattern: RegExp
  readonly reason: string
  readonly hint: string
}

/** Usual failures in corporate networks. The first match wins. */
const pullProblems: readonly PullProblem[] = [
  {
    code: 'PROXY_LOGIN_REFUSED',
    pattern: /proxy authentication required/i,
    reason: 'the proxy demands a login, or refuses the one in cluster.yml (407)',
    hint: 'set username and password in spec.proxy; store the password: hyperkube secret set NAME; then: hyperkube up',
  },
  {
    code: 'FETCH_CA_UNKNOWN',
    pattern: /certificate signed by unknown authority/i,
    reason: 'its certificate is signed by an unknown CA',
    hint: 'set the file of its CA as `ca` in spec.registries, or in spec.proxy if a proxy decrypts TLS; then: hyperkube up',
  },
  {
    code: 'REGISTRY_LOGIN_REFUSED',
    pattern: /401 unauthorized|no basic auth credentials|authorization failed/i,
    reason: 'it demands a login, or refuses the one in cluster.yml (401)',
    hint: 'check username in spec.registries; store the password: hyperkube secret set NAME; then: hyperkube up',
  },
]

/** Builds the error for an image that containerd could not pull. Usual causes have their own code. */
export function buildPullError(image: string, cause: unknown): HyperkubeError {
  const registry = parseImage(image)?.registry ?? 'its registry'
  const message = `cannot pull ${image} from ${registry}`
  const text = formatError(cause)
  const found = pullProblems.find(({ pattern }) => pattern.test(text))
  if (found !== undefined)
    return new HyperkubeError(found.code, `${message}: ${found.reason}`, { hint: found.hint, cause })
  return new HyperkubeError('IMAGE_NOT_PULLED', message, {
    hint: `on the host: crictl pull ${image}; if ${registry} is blocked, set a mirror in spec.registries or use an air-gap bundle`,
    cause,
  })
}
