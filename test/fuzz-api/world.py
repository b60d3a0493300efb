"""What the generator cannot know: credentials, and records for the identifiers in paths and bodies."""

import http.client
import json
import time
import urllib.parse

OWNER = {"email": "owner@fuzz.example", "password": "correct horse battery staple"}


class World:
    """Creates each record when it is first needed, and again once a generated request has ended it."""

    def __init__(self, address, operator_token, receiver):
        self.address = urllib.parse.urlsplit(address)
        self.operator_token = operator_token
        self.receiver = receiver
        self.records = {}
        self.made = 0
        self.account = self.as_operator("POST", "/v1/accounts", {"name": "Fuzzer"}, None)["id"]
        self.as_operator("POST", "/v1/users", {**OWNER, "account_id": self.account})

    def send(self, method, path, body=None, headers=(), content_type="application/json"):
        connection = http.client.HTTPConnection(self.address.hostname, self.address.port, timeout=40)
        try:
            data = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
            sent = {**dict(headers), **({} if data is None else {"Content-Type": content_type})}
            connection.request(method, path, data, sent)
            response = connection.getresponse()
            text = response.read()
            return response, (json.loads(text) if text else {})
        finally:
            connection.close()

    def as_operator(self, method, path, body=None, account=True):
        headers = {"Authorization": "Bearer " + self.operator_token}
        if account:
            headers["Keyhook-Account"] = self.account
        response, answer = self.send(method, path, body, headers)
        if response.status >= 400:
            raise LookupError(f"{response.status} {answer['error']['code']}")
        return answer

    def headers_for(self, operation):
        """The first credential that the operation declares."""
        schemes = [name for one in operation.get("security", []) for name in one]
        if "developerKey" in schemes:
            return {"Authorization": "Bearer " + self.record("key")}
        if "operator" in schemes:
            own = {"Keyhook-Account": self.account} if "session" in schemes else {}
            return {"Authorization": "Bearer " + self.operator_token, **own}
        own = {"Cookie": self.record("session")} if "session" in schemes else {}
        return {**own, "Sec-Fetch-Site": "same-origin"}

    def check_credentials(self):
        """Drops what no longer authenticates: the generator revokes keys, signs out and suspends."""
        state = self.as_operator("GET", f"/v1/accounts/{self.account}", None, None)
        if state["suspended_at"] is not None:
            self.as_operator("POST", f"/v1/accounts/{self.account}/resume", None, None)
        key = {"Authorization": "Bearer " + self.records.get("key", "")}
        response, own = self.send("GET", "/v1/keys/self", headers=key)
        if response.status != 200 or own["effective_scopes"] != ["*:*"] or own["expires_at"]:
            self.records.pop("key", None)
        session = {"Cookie": self.records.get("session", "")}
        if self.send("GET", "/v1/session", headers=session)[0].status != 200:
            self.records.pop("session", None)

    def record(self, name):
        """@raise LookupError: for what this installation does not have, or has no more room for"""
        if name not in self.records:
            self.made += 1
            self.records[name] = getattr(self, "make_" + name)()
        return self.records[name]

    def knows(self, name):
        return hasattr(self, "make_" + name)

    def forget(self, names):
        """What ended, and what was below it."""
        for name in names:
            self.records.pop(name, None)
        if "app_id" in names:
            for name in ("edit_id", "deployment_id", "file_id", "domain_id", "service", "error_id"):
                self.records.pop(name, None)
        if "webhook_id" in names:
            self.records.pop("delivery_id", None)

    def make(self, path, body):
        """Creates a record; where there is no room for it, after a page of the list was deleted."""
        try:
            return self.as_operator("POST", path, body)
        except LookupError:
            for one in self.as_operator("GET", path + "?limit=100")["data"]:
                self.delete_quietly(f"{path}/{one['id']}")
            self.records.clear()
            return self.as_operator("POST", path, body)

    def delete_quietly(self, path):
        try:
            self.as_operator("DELETE", path)
        except LookupError:
            pass  # It had ended before.

    def make_key(self):
        return self.make("/v1/keys", {"name": "fuzzer", "scopes": ["*:*"]})["key"]

    def make_session(self):
        response, _ = self.send("POST", "/v1/session", OWNER, {"Sec-Fetch-Site": "same-origin"})
        if response.status != 200:
            self.as_operator("POST", "/v1/users/reset-password", OWNER, None)
            response, _ = self.send("POST", "/v1/session", OWNER, {"Sec-Fetch-Site": "same-origin"})
        return (response.getheader("Set-Cookie") or "").split(";")[0]

    def make_account_id(self):
        return self.as_operator("POST", "/v1/accounts", {"name": "Another"}, None)["id"]

    def make_key_id(self):
        return self.make("/v1/keys", {"name": "a", "scopes": ["apps:read"]})["id"]

    def make_app_id(self):
        return self.make("/v1/apps", {"template_id": "landing"})["id"]

    @property
    def app(self):
        return "/v1/apps/" + self.record("app_id")

    def make_edit_id(self):
        revision = self.as_operator("GET", self.app)["current_revision"]
        write = {"op": "write", "path": f"fuzz-{self.made}.txt", "content": "text"}
        body = {"operations": [write], "base_revision": revision}
        return self.as_operator("POST", f"{self.app}/edits?wait=5", body)["id"]

    def make_deployment_id(self):
        return self.as_operator("POST", f"{self.app}/deploy/publish?wait=5", {})["id"]

    def make_file_id(self):
        return self.upload("a.txt", f"Text {self.made}")

    def upload(self, name, text):
        head = f'Content-Disposition: form-data; name="file"; filename="{name}"\r\n'
        body = f"--b\r\n{head}\r\n{text}\r\n--b--\r\n".encode()
        headers = {"Authorization": "Bearer " + self.record("key")}
        path = f"{self.app}/files"
        response, answer = self.send("POST", path, body, headers, "multipart/form-data; boundary=b")
        if response.status != 202:
            raise LookupError(f"{response.status} {answer['error']['code']}")
        return answer["data"][0]["id"]

    def make_domain_id(self):
        body = {"hostname": f"shop-{self.made}.fuzz-keyhook.com"}
        return self.as_operator("POST", f"{self.app}/settings/domains", body)["id"]

    def make_error_id(self):
        """One that a page of the app reported."""
        self.make_deployment_id()
        url = urllib.parse.urlsplit(self.as_operator("GET", self.app)["production_url"])
        page = f"{url.scheme}://{url.netloc}"
        report = {"type": "error", "message": f"broken {self.made}", "stack": "", "url": page}
        headers = {"Host": url.netloc, "Origin": page, "Sec-Fetch-Site": "same-origin", "Content-Type": "text/plain"}
        connection = http.client.HTTPConnection(self.address.hostname, url.port, timeout=40)
        connection.request("POST", "/_p/beacon", json.dumps({"reports": [report]}), headers)
        connection.close()
        return self.until(lambda: self.as_operator("GET", f"{self.app}/errors")["data"])[0]["id"]

    def until(self, found):
        """What is found at last; an empty answer is asked for again."""
        for _ in range(50):
            answer = found()
            if answer:
                return answer
            time.sleep(0.1)
        raise LookupError("it did not come in time")

    # States that an operation needs, and that no other request is likely to leave.

    def before_rollback(self):
        """Two releases, of which the earlier one is named."""
        made = []
        for _ in range(2):
            self.made += 1
            self.make_edit_id()
            made.append(self.make_deployment_id())
        self.records["deployment_id"] = made[0]

    def before_retry(self):
        file = self.upload("a.json", f'{{"damaged {self.made}": [')
        path = f"{self.app}/files/{file}"
        self.until(lambda: self.as_operator("GET", path)["status"] == "failed")
        self.records["file_id"] = file

    def before_restore(self):
        self.as_operator("DELETE", self.app)

    def before_end_previous(self):
        self.as_operator("POST", f"/v1/keys/{self.record('key_id')}/rotate", {})

    def make_service(self):
        path = f"{self.app}/settings/services/orders"
        return self.as_operator("PUT", path, {"kind": "database"})["name"]

    def make_webhook_id(self):
        body = {"url": self.receiver, "events": ["app.deployed"]}
        return self.make("/v1/webhooks", body)["id"]

    def make_delivery_id(self):
        path = "/v1/webhooks/" + self.record("webhook_id")
        self.as_operator("POST", path + "/test")
        return self.as_operator("GET", path + "/deliveries")["data"][0]["id"]

    def make_event_id(self):
        self.as_operator("PUT", "/v1/event-types/order.paid", {})
        return self.as_operator("POST", "/v1/events", {"type": "order.paid", "data": {}})["id"]
