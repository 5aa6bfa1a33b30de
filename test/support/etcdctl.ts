/** Prefix of an etcdctl command line, to run on the host of a member. */
export const etcdctl =
  'cd /etc/hyperkube/etcd; /opt/hyperkube/etcd-*/etcdctl --cacert=ca.crt --cert=client.crt --key=client.key'
