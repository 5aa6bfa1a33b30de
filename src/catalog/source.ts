import { HyperkubeError } from '../kit/errors.ts'

/** Where files come from: from where upstream publishes them, a mirror with the same layout, or a bundle. */
export type ArtifactSource = 'upstream' | { readonly mirror: string } | { readonly bundle: string }

/**
 * Where a public URL is found in a source. A mirror's path begins with the name of the site that it stands for. The only
 * way to an address without encryption is a mirror that was named so.
 */
export function locate(url: string, source: ArtifactSource): string {
  if (source !== 'upstream' && 'bundle' in source) {
    throw new HyperkubeError('BUNDLE_NOT_SUPPORTED', `bundles cannot be read yet: ${source.bundle}`, {
      hint: 'set spec.artifacts to upstream or to a mirror',
    })
  }
  const { protocol, host, pathname } = new URL(url)
  if (protocol !== 'https:') throw new HyperkubeError('URL_NOT_HTTPS', `${url} is not an https URL`)
  return source === 'upstream' ? url : `${mirrorBase(source.mirror)}/${host}${pathname}`
}

/** Whether somebody on the way could change what the source answers. */
export function isUnencrypted(source: ArtifactSource): boolean {
  return source !== 'upstream' && 'mirror' in source && URL.parse(source.mirror)?.protocol === 'http:'
}

function mirrorBase(mirror: string): string {
  const url = URL.parse(mirror)
  const plain = url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === ''
  if (!plain || url.username !== '' || url.password !== '') {
    // The address itself stays unsaid: there may be a password in it.
    throw new HyperkubeError('MIRROR_NOT_A_BASE', 'the mirror’s address is not one to put a path behind', {
      hint: 'write it as https://mirror.example/path, without a user, a password, ? and #',
    })
  }
  return url.href.replace(/\/+$/, '')
}
