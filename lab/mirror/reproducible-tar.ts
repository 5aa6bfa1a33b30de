/** Flags with which the same files always produce the same archive. */
export const reproducibleTarFlags = [
  '--sort=name',
  '--mtime=@0',
  '--owner=0',
  '--group=0',
  '--numeric-owner',
] as const
