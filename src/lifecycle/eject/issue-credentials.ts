import { HyperkubeError } from '../../kit/errors.ts'
import type { Identity } from '../../identity/identity.ts'
import { secretFiles } from '../../identity/secret-files.ts'
import { buildEmbeddedKubeconfig } from '../../pki/kubeconfig.ts'
import { Secret } from '../../pki/secret.ts'
import { type IssuedCertificate, issueCertificate } from '../../pki/sign.ts'
import type { CredentialSpec, EjectContent, EjectDocuments, EjectFile } from './eject-file.ts'

/** A file with its content, which may be secret. */
export interface CompleteFile extends Pick<EjectFile, 'path' | 'executable'> {
  readonly content: Secret
}

/** Issues all credentials and completes the files. Keys come only from the identity, or are new. */
export async function completeFiles(
  { files, credentials }: EjectDocuments,
  identity: Identity,
  now: Date,
): Promise<readonly CompleteFile[]> {
  const secrets = secretFiles(identity)
  const issued = new Map<string, IssuedCertificate>()
  for (const [name, spec] of credentials) issued.set(name, await issue(identity, name, spec, now))
  const find = <T>(known: ReadonlyMap<string, T>, name: string): T => {
    const found = known.get(name)
    if (found !== undefined) return found
    throw new HyperkubeError('EJECT_SECRET_MISSING', `the identity has no ${name}`, {
      hint: 'restore cluster.identity from a backup',
    })
  }
  const complete = (content: EjectContent): Secret | string => {
    switch (content.kind) {
      case 'text':
        return content.text
      case 'secret':
        return find(secrets, content.secret)
      case 'certificate':
        return find(issued, content.credential).certificate
      case 'private-key':
        return find(issued, content.credential).privateKey
      case 'key-pair': {
        const { certificate, privateKey } = find(issued, content.credential)
        return new Secret(content.credential, certificate + privateKey.revealText())
      }
      default:
        return buildEmbeddedKubeconfig(content.access, {
          ca: identity.cas.kubernetes.certificate,
          ...find(issued, content.credential),
        })
    }
  }
  return files.map(({ content, ...file }) => {
    const completed = complete(content)
    return { ...file, content: typeof completed === 'string' ? new Secret(file.path, completed) : completed }
  })
}

async function issue(
  { cas }: Identity,
  name: string,
  { ca, spec }: CredentialSpec,
  now: Date,
): Promise<IssuedCertificate> {
  return issueCertificate(ca === 'front-proxy' ? cas.frontProxy : cas[ca], name, spec, now)
}
