import type { Cluster } from './cluster.ts'
import { problem, type Problem, warningProblem } from './problem.ts'

type HttpProxySpec = NonNullable<Cluster['spec']['proxy']>

/** Checks the login of the proxy. */
export function checkProxy({ spec }: Cluster): Problem[] {
  const { proxy, hosts } = spec
  if (proxy === undefined) return []
  return [
    ...(['http', 'https'] as const).flatMap((name) => checkProxyUrl(name, proxy[name])),
    ...checkProxyLogin(proxy),
    ...(proxy.password !== undefined && hosts.some(({ os }) => os === 'windows')
      ? [
          problem(
            'SPEC_PROXY_WINDOWS',
            ['spec', 'proxy', 'password'],
            'a proxy with a login is not supported for Windows hosts: all their users could read the password',
            'allow the Windows hosts by address in the proxy, or use an air-gap bundle',
          ),
        ]
      : []),
  ]
}

/** Rejects URLs with a user or password, because cluster.yml and plans must not contain secrets. */
function checkProxyUrl(name: 'http' | 'https', text: string | undefined): Problem[] {
  const url = URL.parse(text ?? '')
  if (url === null || (url.username === '' && url.password === '')) return []
  return [
    problem(
      'SPEC_PROXY_PASSWORD',
      ['spec', 'proxy', name],
      'must not contain a user or a password',
      'set spec.proxy.username and spec.proxy.password: { secret: proxy-password }; then: hyperkube secret set proxy-password',
    ),
  ]
}

function checkProxyLogin({ username, password }: HttpProxySpec): Problem[] {
  if ((username === undefined) === (password === undefined)) return []
  const missing = username === undefined ? 'username' : 'password'
  return [problem('SPEC_PROXY_LOGIN', ['spec', 'proxy'], `the login of the proxy has no ${missing}`)]
}

/** Warns about registries whose certificates are not verified. */
export function checkSkippedVerification({ spec }: Cluster): Problem[] {
  return spec.registries.flatMap(({ host, skipVerify }, index) =>
    skipVerify
      ? [
          warningProblem(
            'SPEC_SKIP_VERIFY',
            ['spec', 'registries', index, 'skipVerify'],
            `the certificate of ${host} is not verified: an attacker on the network can replace images and read the password`,
            'remove skipVerify and set the file of its CA: ca: registry-ca.pem',
          ),
        ]
      : [],
  )
}
