import { HyperkubeError } from '../kit/errors.ts'

/** Where files come from: from where upstream publishes them, a mirror with the same layout, or a bundle. */
export type ArtifactSource = Site | { readonly bundle: string }

/** A source that is asked over the network. */
export type Site = 'upstream' | { readonly mirror: string }

/**
 * Where a public URL is found in a source. A mirror's path begins with the name of the site that it stands for. The only
 * way to an address without encryption is a mirror that was named so. What comes in a bundle keeps its public URL: it is
 * there by its digest before anybody asks for it.
 */
export function locate(url: string, source: ArtifactSource): string {
  const { protocol, host, pathname } = new URL(url)
  if (protocol !== 'https:') throw new HyperkubeError('URL_NOT_HTTPS', `${url} is not an https URL`)
  return source !== 'upstream' && 'mirror' in source ? `${mirrorBase(source.mirror)}/${host}${pathname}` : url
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
