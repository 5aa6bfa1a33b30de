/** Flags with which the same files always give the same archive. */
export const plainTar = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner'] as const
