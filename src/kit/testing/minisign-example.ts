/** Key and signature that Debian's minisign 0.11 made. The key is used only in tests. */
export const minisignExample = {
  publicKey: 'RWSfKbkuDnOBACg1iO9X4fUkKspWcICb7Z/wsKp3R+rzv8FxbanDRaJZ',
  content: Buffer.from('content\n'),
  signature: [
    'untrusted comment: signature from minisign secret key',
    'RUSfKbkuDnOBAO6lCXCp0m03LOpy6SG3/Zhbh70GD3Wwhk1iCKfsCOM3uoSxu07KecnC3RiMYjJHZwlKlwR8jGpAoMj9xub0swI=',
    'trusted comment: hyperkube 1.2.3',
    'PoUv4FccVoTvs5xdxQgp1bfPv9KwHM3X9YOTlcQEmDrZAKgf05PkR1v21WMHVe8S0rDJXnBAFBopHid1RirYCQ==',
    '',
  ].join('\n'),
}
