import { HyperkubeError } from '../kit/errors.ts'

/** Where files are downloaded from: upstream's sites, a mirror with the same layout, or a bundle. */
export type ArtifactSource = NetworkSource | { readonly bundle: string }

/** A source that is reached over the network. */
export type NetworkSource = 'upstream' | { readonly mirror: string }

/**
 * Converts a public URL to the URL in a source. On a mirror, the path begins with the host name of the public
 * URL. Files of a bundle keep their public URL, because they are found by digest.
 */
export function locateArtifact(url: string, source: ArtifactSource): string {
  const { protocol, host, pathname } = new URL(url)
  if (protocol !== 'https:') throw new HyperkubeError('URL_NOT_HTTPS', `${url} is not an https URL`)
  return source !== 'upstream' && 'mirror' in source ? `${mirrorBase(source.mirror)}/${host}${pathname}` : url
}

/** True if responses of the source could be changed on the network, because it uses plain http. */
export function isUnencrypted(source: ArtifactSource): boolean {
  return source !== 'upstream' && 'mirror' in source && URL.parse(source.mirror)?.protocol === 'http:'
}

function mirrorBase(mirror: string): string {
  const url = URL.parse(mirror)
  const plain = url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === ''
  if (!plain || url.username !== '' || url.password !== '') {
    // The message does not contain the URL, because it may include a password.
    throw new HyperkubeError('MIRROR_NOT_A_BASE', 'the URL of the artifact mirror is not a valid base URL', {
      hint: 'use a URL such as https://mirror.example/path, without user, password, ? and #',
    })
  }
  return url.href.replace(/\/+$/, '')
}
