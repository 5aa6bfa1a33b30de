/** A container image with one layer of programs and files. */
export interface Image {
  readonly name: string
  /** Programs and files of an upstream component (part), each with its path in the image. */
  readonly programs: Readonly<Record<string, string>>
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  /**
   * True to add a shell and common small tools from the static busybox of the machine that builds the image.
   */
  readonly busybox: boolean
  /** Small files of the image: path to contents. */
  readonly files: Readonly<Record<string, string>>
  /** Small scripts of the image: path to contents. */
  readonly scripts?: Readonly<Record<string, string>>
  /** Environment variables of the process, besides PATH. */
  readonly environment?: Readonly<Record<string, string>>
  /** User of the process; empty for root. */
  readonly user: string
  /** Symbolic links: path to target. */
  readonly links?: Readonly<Record<string, string>>
  /** Paths of programs that get the setuid bit. */
  readonly setuid?: readonly string[]
  /** Debian packages, installed with all their dependencies; their files replace those of busybox. */
  readonly debian?: readonly string[]
  /** Paths in Debian packages that are not unpacked. */
  readonly debianExclude?: readonly string[]
  /** Paths that other containers mount from a container of this image. */
  readonly volumes?: readonly string[]
}

const unprivileged = 'nobody'
/** Users and groups of images without a base image. */
export const accounts = {
  'etc/passwd': `root:x:0:0:root:/root:/bin/sh\n${unprivileged}:x:65534:65534:${unprivileged}:/:/bin/false\n`,
  'etc/group': 'root:x:0:\nnogroup:x:65534:\n',
}

/** Links that Debian's package of iptables gets when it is installed, but not when it is unpacked. */
export const iptablesLinks = Object.fromEntries(
  ['iptables', 'ip6tables'].flatMap((name) =>
    ['', '-save', '-restore'].map((suffix) => [`usr/sbin/${name}${suffix}`, 'xtables-nft-multi'] as const),
  ),
)

type Extra = Partial<Omit<Image, 'name' | 'programs'>>

export function defineImage(
  name: string,
  programs: Readonly<Record<string, string>>,
  extra: Extra = {},
): Image {
  return {
    name,
    programs,
    entrypoint: Object.values(programs)
      .slice(0, 1)
      .map((path) => `/${path}`),
    command: [],
    busybox: false,
    files: {},
    user: '',
    ...extra,
  }
}
