// Loaded before a server by others: what it opens listens on this machine alone.
const net = require("net");
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (port, ...rest) {
  return listen.call(this, port, "127.0.0.1", ...rest.filter((one) => typeof one === "function"));
};
